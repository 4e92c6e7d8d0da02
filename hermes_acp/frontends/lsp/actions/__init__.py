"""Code actions: each file `NAME.py` defines the command `hermes.NAME` and exports `ACTION`."""
