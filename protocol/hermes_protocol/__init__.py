"""The Agent Client Protocol and the JSON-RPC peer that speaks it.

Knows: the wire (framing, envelopes, connections) and the protocol's types. Does not know: any agent or
frontend. Import the module you need: this package imports nothing, so that the first `initialize` can be answered
before an event loop exists. Only `transport` and `connection` import anyio.
"""
