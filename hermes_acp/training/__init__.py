"""Train models on exported sessions: started by a person, run by a trainer plugin in a separate process."""
