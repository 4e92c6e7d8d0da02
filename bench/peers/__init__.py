"""One program per peer, each doing the same work through its own library.

Each program is started alone. Usage: PROGRAM each|burst|in COUNT. `each` and `burst` send COUNT
message chunks on standard output and wait for the bytes to be written after each or after a thousand; `in` reads
COUNT from standard input as an editor does. What it cost is one JSON object on standard error.
"""
