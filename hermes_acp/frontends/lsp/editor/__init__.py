"""Serve one editor: its sessions, the actions it runs, the methods it may call."""
