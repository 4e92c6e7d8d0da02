"""The git objects of a shadow: written one by one, borrowed from the user's repository, or left unfinished."""
