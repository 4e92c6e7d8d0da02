"""Update to another version: find it, install it next to the current one, test it, and switch."""
