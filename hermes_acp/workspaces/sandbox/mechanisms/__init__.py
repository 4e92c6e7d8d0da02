"""The confinement methods of operating systems, with one module each, and their detection."""
