"""The draft of protocol version 2, for clients that request it where it is offered."""
