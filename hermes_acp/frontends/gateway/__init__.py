"""Connect chat platforms to the agent: the gateway speaks ACP to the agent, and each platform's own protocol."""
