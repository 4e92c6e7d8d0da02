"""Tools of MCP servers: connections that are kept up, and what comes over them."""
