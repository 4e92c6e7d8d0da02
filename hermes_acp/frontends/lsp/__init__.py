"""The Language Server Protocol frontend, for editors without an ACP client."""
