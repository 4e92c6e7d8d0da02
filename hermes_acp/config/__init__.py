"""The user's configuration: one frozen object out of config.yaml, .env, the environment and flags."""
