"""`hermes-acp sessions`: list, search, show, change, export and import stored sessions."""
