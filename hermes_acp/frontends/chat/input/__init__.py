"""Input features: completion, file mentions, attachments, history, recording."""
