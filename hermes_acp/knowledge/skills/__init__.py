"""Skills: know-how in folders, by the open standard of agentskills.io."""
