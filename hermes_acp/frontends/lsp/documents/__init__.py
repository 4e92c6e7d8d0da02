"""Open documents, and positions and selections in them."""
