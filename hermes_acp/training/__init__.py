"""Train models on exported sessions.

A person starts the training, and a trainer plugin runs it in a separate process.
"""
