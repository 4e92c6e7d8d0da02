"""The two kinds of terminal a chat runs on, and the person's own text editor."""
