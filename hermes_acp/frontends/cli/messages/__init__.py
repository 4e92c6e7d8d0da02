"""Every sentence the command line shows, in one module per command.

Constants, and functions that return one sentence. Callers escape what they insert. Text from elsewhere (errors,
notices, findings) is worded there. `tests/golden/messages/cli.txt` lists all of them.
"""
