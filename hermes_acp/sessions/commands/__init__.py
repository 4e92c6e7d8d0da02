"""The slash commands offered in every session, one file a command; the file name is the command's name."""
