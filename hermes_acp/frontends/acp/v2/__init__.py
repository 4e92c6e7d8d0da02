"""The draft of protocol version 2, for clients that ask for it where it is offered."""
