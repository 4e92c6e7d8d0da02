"""The `hermes-acp usage` command."""
