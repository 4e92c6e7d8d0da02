"""The fleet engine: runs of many machines in Postgres, handed to workers by Temporal."""
