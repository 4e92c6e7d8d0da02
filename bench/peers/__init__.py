"""Programs that do the same work through different libraries, one for each peer.

Each program is started separately. Usage: PROGRAM each|burst|in COUNT. `each` and `burst` send COUNT message chunks on
standard output and wait for the bytes to be written after each one or after a thousand; `in` reads COUNT chunks from
standard input, as an editor does. The cost is printed as one JSON object on standard error.
"""
