"""Chat platforms as clients of the agent: it speaks ACP to an agent, and each platform's own protocol to people."""
