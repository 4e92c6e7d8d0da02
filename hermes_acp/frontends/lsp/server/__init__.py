"""The connection to the editor: framing, pygls, and the tasks that serve requests."""
