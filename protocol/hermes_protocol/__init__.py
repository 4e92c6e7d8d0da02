"""The Agent Client Protocol and the JSON-RPC peer that speaks it.

Import the module you need: this package imports nothing, so that the first `initialize` can be answered before an
event loop exists. Only `transport` and `connection` import anyio.
"""
