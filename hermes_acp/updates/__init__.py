"""Replace the version in use with another one: find it, install it next to the current one, try it, and switch."""
