"""Check the settings, the model, the stored data and the installation."""
