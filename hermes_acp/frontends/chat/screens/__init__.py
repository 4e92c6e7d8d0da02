"""The two kinds of terminal that a chat can run on, and the person's text editor."""
