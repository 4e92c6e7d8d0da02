"""The draft of protocol version 2, for clients that request it if it is enabled."""
