"""Every sentence the command line shows, in one module per command.

Modules contain constants, and functions that return one sentence. Callers escape inserted values. Errors, notices and
findings from other packages are worded there. `tests/golden/messages/cli.txt` lists all of them.
"""
