"""Replace the version in use with another one: find it, install it beside the current one, try it, and switch."""
