"""Sign in to MCP servers with OAuth."""
