"""The slash commands available in every session, one file for each; the file name is the command's name."""
