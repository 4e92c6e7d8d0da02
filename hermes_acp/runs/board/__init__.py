"""Boards: cards with tasks, derived from an append-only log. Runs work on the cards."""
