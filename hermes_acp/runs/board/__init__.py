"""Boards: cards with tasks, folded from a log. Runs work on the cards."""
