"""The connection itself: framing, pygls, and the tasks of requests."""
