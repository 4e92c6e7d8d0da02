"""The command line: each command is a module or a package, to which `cli_main` dispatches."""
