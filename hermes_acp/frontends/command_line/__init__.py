"""Parse the command lines of all frontends, and explain wrong ones in the same way."""
