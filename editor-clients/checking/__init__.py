"""What `editor-clients/check.py` is made of; nothing here needs more than Python's own library.

Knows: nothing itself. Does not know: hermes_acp, the tests.
"""
