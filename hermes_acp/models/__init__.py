"""Connections to model endpoints, vendors' formats, facts on each model, and the choice of which one to try next."""
