"""The tools a model can call, and the helpers they share."""
