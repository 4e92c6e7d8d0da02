"""The `hermes-acp model` command: list, try and set models."""
