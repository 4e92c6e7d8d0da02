"""The hub serves several users at one address, each through a separate process for their profile."""
