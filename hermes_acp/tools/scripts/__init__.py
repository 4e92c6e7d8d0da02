"""Model-written scripts that call tools: the runner in the workspace, and the side that answers its calls."""
