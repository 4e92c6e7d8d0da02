"""Commands for administrators of a hub: `users` and `audit`."""
