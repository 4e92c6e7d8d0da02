"""Notify people who are not at a client: of work that is done, has failed or waits for them."""
