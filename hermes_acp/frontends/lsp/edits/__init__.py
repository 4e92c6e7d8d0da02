"""Handle proposed changes: compare them, let the user confirm them, and let the editor apply them."""
