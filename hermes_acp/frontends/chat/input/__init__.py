"""Input aids: completion, file mentions, history."""
