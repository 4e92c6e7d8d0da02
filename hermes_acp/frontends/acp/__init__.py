"""The Agent Client Protocol face: the only room that knows the wire types."""
