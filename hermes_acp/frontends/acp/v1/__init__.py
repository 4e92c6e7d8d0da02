"""Protocol version 1."""
