"""Confinement methods of the operating systems: one module each, and their detection."""
