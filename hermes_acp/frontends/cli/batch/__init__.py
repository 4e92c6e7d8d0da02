"""`hermes-acp batch`: many prompts from a file."""
