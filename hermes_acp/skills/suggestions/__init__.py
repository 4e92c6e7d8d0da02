"""Compare skills with prompts and with each other."""
