"""The server for clients that are elsewhere: ACP over streamable HTTP and WebSocket, many of them in one process."""
