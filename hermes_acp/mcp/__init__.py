"""Connections to MCP servers, and what the servers offer."""
