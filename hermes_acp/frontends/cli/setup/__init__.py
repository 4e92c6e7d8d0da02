"""The `hermes-acp setup` command: provider, key and model, and the settings of editors."""
