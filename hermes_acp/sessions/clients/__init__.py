"""The clients of a session: the updates and questions they receive, and turns that continue without them."""
