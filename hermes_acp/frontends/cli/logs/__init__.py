"""The `hermes-acp logs` command."""
