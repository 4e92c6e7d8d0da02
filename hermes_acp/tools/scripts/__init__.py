"""Scripts of a model's that call tools: the side that runs in the workspace, and the side that answers it."""
