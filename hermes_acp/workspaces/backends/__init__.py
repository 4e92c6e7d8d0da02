"""A drawer of workspaces: each leaf exports `BACKEND`, with a name and `open(cwd, roots, environment)`."""
