"""The commands of workers: `worker`, and the hidden `drive` of the processes that it starts."""
