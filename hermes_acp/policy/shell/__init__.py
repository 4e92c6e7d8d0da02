"""Shell commands understood before they run: what each would start, read and write, and whether it is harmless.

Knows: bash's grammar, what common programs do with their arguments. Does not know: modes, grants, who asks.
A command is harmless only where every part of it was understood; whatever was not is a reason to ask.
"""
