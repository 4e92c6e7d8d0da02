"""Find and decode encoded text."""
