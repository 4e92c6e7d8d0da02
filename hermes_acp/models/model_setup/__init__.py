"""Choose a model: collect the answers that setup needs, try them in one call, and store them."""
