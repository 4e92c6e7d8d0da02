"""The command line: headless runs, set-up."""
