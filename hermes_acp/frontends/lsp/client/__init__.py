"""The editor and its user: messages, questions, progress, files to look at."""
