"""Checking the settings, the model, the stored data and the sandbox."""
