"""Conversions to wire values that are the same in every protocol version."""
