"""Custom tools of a user, their agent or a workspace: one Python file each, checked before it runs in a sandbox."""
