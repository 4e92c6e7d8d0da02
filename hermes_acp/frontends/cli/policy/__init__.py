"""`hermes-acp policy`: show how commands are checked, and the stored answers."""
