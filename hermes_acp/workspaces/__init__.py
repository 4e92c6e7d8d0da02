"""Workspaces: the folders a session may access and the machine its commands run on."""
