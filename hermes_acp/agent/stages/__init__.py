"""What happens around the steps of a turn, one small thing a file; their order is in `agent/setup/turn_stages.py`."""
