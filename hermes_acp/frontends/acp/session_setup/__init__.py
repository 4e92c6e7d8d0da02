"""What a client lists, opens and configures sessions with, in every version."""
