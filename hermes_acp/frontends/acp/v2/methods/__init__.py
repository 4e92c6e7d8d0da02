"""One file per method an editor can call; the file name is the method's key in the schema."""
