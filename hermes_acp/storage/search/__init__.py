"""The search indexes of sessions: full text and vectors."""
