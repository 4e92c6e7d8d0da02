"""The records of sessions in Postgres, for all machines of a profile."""
