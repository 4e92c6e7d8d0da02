"""Workspaces: the folders a session may touch and the machine its commands run on."""
