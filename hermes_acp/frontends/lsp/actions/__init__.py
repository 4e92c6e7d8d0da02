"""Code actions: each file is the command `hermes.NAME`, exporting `ACTION`."""
