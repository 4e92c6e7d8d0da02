"""The sandbox for unapproved commands: no network, and nothing visible beyond the session's folders."""
