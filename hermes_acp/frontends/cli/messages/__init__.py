"""Every sentence that the command line shows, one module for each command.

Constants, and functions that return one sentence. Callers escape what they insert. What comes from elsewhere (errors,
notices, findings) is worded there. `tests/golden/messages/cli.txt` lists all of them.
"""
