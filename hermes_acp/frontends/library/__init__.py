"""The agent as a library: `from hermes_acp import Agent, Tool`."""
