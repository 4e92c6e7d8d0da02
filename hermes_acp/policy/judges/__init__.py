"""Policy checks: one module for each kind of effect."""
