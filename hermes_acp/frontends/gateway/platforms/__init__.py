"""Platforms: one file each, exporting `PLATFORM`."""
