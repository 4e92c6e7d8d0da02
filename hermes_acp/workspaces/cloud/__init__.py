"""Sandboxes that are hired from a service, through the service's own library."""
