"""The Agent Client Protocol frontend: the only package that uses the wire types."""
