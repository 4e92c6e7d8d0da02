"""Workspaces: the folders that a session may access, and the machine that its commands run on."""
