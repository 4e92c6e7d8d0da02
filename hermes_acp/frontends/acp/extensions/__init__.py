"""What this agent offers beyond the protocol to clients that announce it, in every version."""
