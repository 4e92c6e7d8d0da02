"""The hub: one address for several users, each served by a separate process for their profile."""
