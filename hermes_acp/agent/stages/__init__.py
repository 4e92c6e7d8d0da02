"""What happens around the steps of a turn, one stage a file; `app` sets their order."""
