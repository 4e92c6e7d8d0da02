"""Track open documents, and convert positions and selections in them."""
