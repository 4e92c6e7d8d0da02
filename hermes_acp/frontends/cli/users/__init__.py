"""Commands for administrators of a hub: its users and its audit log."""
