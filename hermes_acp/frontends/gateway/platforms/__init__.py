"""The plugin folder for platforms; each module exports `PLATFORM`."""
