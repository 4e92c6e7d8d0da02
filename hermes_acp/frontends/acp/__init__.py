"""The Agent Client Protocol frontend: the only package that uses the protocol's wire types."""
