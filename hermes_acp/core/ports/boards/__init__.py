"""Boards: their cards, events, actions and ports."""
