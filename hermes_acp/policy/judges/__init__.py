"""Check calls against policy: one module for each kind of effect."""
