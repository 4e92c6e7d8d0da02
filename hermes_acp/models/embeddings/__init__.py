"""Embeddings from an endpoint or a local model."""
