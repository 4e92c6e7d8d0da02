"""Boards: cards with tasks, folded from a log and worked on by runs."""
