"""Sandboxes rented from a cloud service, through the service's own library."""
