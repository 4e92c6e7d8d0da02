"""What can be done with a place in a document: each file is one command `hermes.NAME`, exporting `ACTION`."""
