"""The interface of platforms."""
