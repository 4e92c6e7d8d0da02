"""The tools a model may call, and what they share."""
