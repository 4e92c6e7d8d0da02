"""Git: run it safely, read its files, and know which settings and variables start programs."""
