"""Turn the agent's updates into text for a terminal."""
