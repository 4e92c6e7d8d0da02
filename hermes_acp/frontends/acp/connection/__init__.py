"""Parts common to all connections, in any protocol version: the client, its calls, their errors."""
