"""What the user set: one frozen object out of config.yaml, .env, the environment and flags."""
