"""Connections to MCP servers and what they offer."""
