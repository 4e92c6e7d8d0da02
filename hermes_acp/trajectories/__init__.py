"""Export recorded sessions as data for evaluation and training, and import trajectories from other agents."""
