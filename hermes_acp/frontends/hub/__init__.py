"""The hub: one address for several users, each served by a process of their own profile."""
