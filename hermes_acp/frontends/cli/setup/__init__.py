"""The `hermes-acp setup` command: set up a provider, a key, a model, and the settings of editors."""
