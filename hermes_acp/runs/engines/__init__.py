"""Engines that keep runs: a plugin folder with the constant `ENGINE`."""
