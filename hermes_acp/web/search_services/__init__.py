"""A plugin folder of search services, each module exporting `SERVICE`."""
