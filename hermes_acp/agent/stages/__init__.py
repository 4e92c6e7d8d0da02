"""The stages around the steps of a turn, one per file; `agent/setup/turn_stages.py` sets their order."""
