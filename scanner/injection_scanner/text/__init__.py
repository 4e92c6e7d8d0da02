"""Normalise and tokenise text."""
