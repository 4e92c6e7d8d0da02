"""`hermes-acp policy`: show how commands are checked, and list or delete permanent answers."""
