"""`hermes-acp sessions`: search, list and show stored sessions."""
