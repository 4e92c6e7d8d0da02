"""Choosing a model: the answers that setup needs, one call to try them, and writing them."""
