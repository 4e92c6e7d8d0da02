"""The tools that a model can call, and the helpers they share."""
