"""Index sessions for search: full text and vectors."""
