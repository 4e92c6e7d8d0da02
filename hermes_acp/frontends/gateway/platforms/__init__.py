"""A plugin folder of platforms, each module exporting `PLATFORM`."""
