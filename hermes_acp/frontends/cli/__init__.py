"""The command line: a module or a package for each command; `cli_main` dispatches to them."""
