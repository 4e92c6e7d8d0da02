"""The state of a turn: its dependencies, limits and usage."""
