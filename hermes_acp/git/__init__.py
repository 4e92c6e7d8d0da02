"""Git: settings and variables that start programs, running git safely, and reading its files."""
