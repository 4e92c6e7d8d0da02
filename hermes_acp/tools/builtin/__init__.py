"""A drawer of tools: each leaf exports `TOOL` and is named for the tool it holds."""
