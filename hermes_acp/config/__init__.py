"""The user's configuration: a frozen object built from config.yaml, .env, the environment and flags."""
