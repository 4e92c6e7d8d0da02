"""Embeddings from an endpoint or a model on this machine."""
