"""The chat in a terminal: a client that starts `hermes-acp` and talks to it over ACP, as an editor does."""
