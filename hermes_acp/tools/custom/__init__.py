"""Custom tools of a user, their agent or a workspace: one Python file each, which is checked and runs in a sandbox."""
