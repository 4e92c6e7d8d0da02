"""The command `hermes-acp board`."""
