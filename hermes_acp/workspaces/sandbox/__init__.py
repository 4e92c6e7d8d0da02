"""Where commands that nobody approved are run: shut off from the network and all but the session's folders."""
