"""Analyse shell commands before they run: what each would start, read and write, and whether it is harmless.

A command is harmless only where every part of it was understood; whatever was not is a reason to ask.
"""
