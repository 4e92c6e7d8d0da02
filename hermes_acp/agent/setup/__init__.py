"""Create the dependencies of turns from the settings: models, tools, stages and the prompt."""
