"""The users of a hub: their accounts, profiles, sign-in, quotas and audit log."""
