"""The plugin folder of search services; each module exports `SERVICE`."""
