"""Commands of somebody who serves several people: the users of a hub, and its audit log."""
