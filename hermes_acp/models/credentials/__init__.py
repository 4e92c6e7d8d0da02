"""Signed requests, and credentials managed by vendors' own tools."""
