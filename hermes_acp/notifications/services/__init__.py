"""Services that deliver notifications; each module exports `SERVICE`."""
