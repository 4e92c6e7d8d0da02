"""The plugin folder of builtin tools: each module exports `TOOL` and is named after its tool.

A tool that needs more than the workspace has a `bind` method whose parameters name the ports it takes. The tool is
bound once, when the toolbox is assembled; only a bound tool can be used.
"""
