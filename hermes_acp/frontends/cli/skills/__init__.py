"""`hermes-acp skills`: list, search, install, update, audit and publish skills."""
