"""The Agent Client Protocol frontend: the only package that knows the wire types."""
