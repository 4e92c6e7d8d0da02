"""The kinds of context file: a plugin folder, each module exporting `KIND`."""
