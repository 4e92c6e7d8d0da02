"""Serve one editor: its sessions, its code actions, and the methods that it may call."""
