"""A plugin folder of external memory services; each module exports `SERVICE`."""
