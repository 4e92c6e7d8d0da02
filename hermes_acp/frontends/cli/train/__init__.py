"""`hermes-acp train`: train a model on exported sessions; only a person can start it."""
