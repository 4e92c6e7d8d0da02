"""Boards: cards, their events, the actions on them, and the ports of boards."""
