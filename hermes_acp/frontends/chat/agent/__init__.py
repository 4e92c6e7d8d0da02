"""The connection to the agent, and the state of the open session."""
