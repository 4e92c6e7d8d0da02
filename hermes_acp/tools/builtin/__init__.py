"""A plugin folder of tools: each plugin exports `TOOL` and is named for the tool it holds.

A tool that needs more than the workspace has a method `bind` whose parameters name the ports it takes; it is bound once
by whoever puts the toolbox together, and only the bound tool can be used.
"""
