"""The fleet engine for many machines: Postgres stores the runs, and Temporal dispatches them to workers."""
