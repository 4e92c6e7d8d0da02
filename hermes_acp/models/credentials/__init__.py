"""Signed requests, and credentials that vendors' own tools keep."""
