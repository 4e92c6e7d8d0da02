"""The composition root: the only package that chooses implementations."""
