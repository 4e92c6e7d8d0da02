"""List, open and configure sessions for a client, the same in every protocol version."""
