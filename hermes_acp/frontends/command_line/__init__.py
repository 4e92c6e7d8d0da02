"""Parse the command lines of all frontends, and explain mistakes in the same way."""
