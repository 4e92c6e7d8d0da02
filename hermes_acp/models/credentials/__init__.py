"""Sign requests, and use credentials managed by vendors' own tools."""
