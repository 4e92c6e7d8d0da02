"""Model-written scripts that call tools: the runner in the workspace, and the server that answers its calls."""
