"""`hermes-acp runs`: work that goes on without a client."""
