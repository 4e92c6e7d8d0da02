"""List, open and configure sessions for a client, in every version."""
