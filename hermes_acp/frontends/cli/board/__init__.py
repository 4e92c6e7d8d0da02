"""The `hermes-acp board` command."""
