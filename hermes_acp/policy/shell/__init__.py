"""Analyse shell commands before they run: what each would start, read and write, and whether it is harmless.

A command is harmless only if every part of it is understood; any other part is a reason to ask.
"""
