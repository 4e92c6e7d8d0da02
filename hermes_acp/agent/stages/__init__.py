"""What happens around the steps of a turn, one small thing a file; their order stands in `assembly`."""
