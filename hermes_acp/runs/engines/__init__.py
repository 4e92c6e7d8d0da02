"""Engines that store runs: a plugin folder with the constant `ENGINE`."""
