"""The `worker` command, and the hidden `drive` command that it starts for each run."""
