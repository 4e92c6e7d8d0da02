"""What helps a person type: completion, file mentions, history."""
