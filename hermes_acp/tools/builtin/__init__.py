"""A plugin folder of tools: each module exports `TOOL` and is named for its tool.

A tool that needs more than the workspace has a method `bind` whose parameters name the ports it takes; it is
bound once when the toolbox is assembled, and only the bound tool can be used.
"""
