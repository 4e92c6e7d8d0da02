"""Serve remote clients: ACP over streamable HTTP and WebSocket, many clients in one process."""
