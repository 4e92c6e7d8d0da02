"""Turn the pinned protocol schemas into source code.

Knows: JSON Schema as the protocol writes it, and the languages it is turned into.
Does not know: the agent, or anything that runs with the generated code.
"""
