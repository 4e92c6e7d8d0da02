"""Git: which of its settings, variables and files start programs, how it is run safely, how its files are read."""
