"""Serve the web page: the built files of the browser client, and the headers that confine it."""
