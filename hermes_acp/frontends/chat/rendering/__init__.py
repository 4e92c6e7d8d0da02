"""Render the agent's updates as text for a terminal."""
