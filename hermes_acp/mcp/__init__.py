"""Connect to MCP servers, and offer their tools, prompts and resources."""
