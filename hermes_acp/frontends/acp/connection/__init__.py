"""The parts of a connection that all protocol versions share: the client, method dispatch, error replies."""
