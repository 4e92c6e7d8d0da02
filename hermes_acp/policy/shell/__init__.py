"""Analyse shell commands before they run: what each would start, read and write, and whether it is harmless.

A command is harmless only if every part of it is understood; any part that is not understood is a reason to ask.
"""
