"""Notify people who are not at a client that work is done, has failed or needs an answer."""
