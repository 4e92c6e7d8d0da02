"""Session records in Postgres, shared by all machines of a profile."""
