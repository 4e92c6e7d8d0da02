"""Services that deliver notifications: one file each, exporting `SERVICE`."""
