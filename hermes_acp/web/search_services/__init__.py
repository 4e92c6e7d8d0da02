"""The search services there are, one file each, exporting `SERVICE`."""
