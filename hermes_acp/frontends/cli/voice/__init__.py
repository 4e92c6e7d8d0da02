"""The `hermes-acp voice` command."""
