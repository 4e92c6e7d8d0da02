"""Run batches: many prompts from a file, each with a run and a line in a results file."""
