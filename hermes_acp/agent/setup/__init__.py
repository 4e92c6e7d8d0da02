"""What turns are made with: models, tools, stages and the prompt, chosen from the settings."""
