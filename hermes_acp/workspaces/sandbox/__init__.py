"""The sandbox for unapproved commands: cut off from the network and everything but the session's folders."""
