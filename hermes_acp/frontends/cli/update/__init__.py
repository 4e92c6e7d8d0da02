"""The `hermes-acp update` command, and the process that performs an update."""
