"""`hermes-acp runs`: work that continues without a client."""
