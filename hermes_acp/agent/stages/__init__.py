"""What happens around the steps of a turn, one stage per file; `agent/setup/turn_stages.py` sets their order."""
