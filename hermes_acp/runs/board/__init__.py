"""Boards: cards of work, folded from a log, worked on by runs."""
