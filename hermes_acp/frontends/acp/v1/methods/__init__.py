"""One file for each method that an editor can call; the file name is the method's key in the schema."""
