"""Services that remember for an agent; each file is one, exporting `SERVICE`."""
