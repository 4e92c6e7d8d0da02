"""The kinds of context file: a plugin folder in which each module exports `KIND`."""
