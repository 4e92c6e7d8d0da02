"""A plugin folder of engines that store runs; each module exports `ENGINE`."""
