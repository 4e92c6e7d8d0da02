"""Boards: cards, what happens to them, what may be done with them, and the ports of boards."""
