"""The kinds of context file, one leaf each, every plugin exporting `KIND`.

Knows: nothing but that they exist. Does not know: how files are found, read or rendered.
"""
