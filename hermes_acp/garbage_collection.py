"""Enable garbage collection after start-up."""

import gc


def enable_garbage_collection() -> None:
    """Enable garbage collection; objects created during start-up are exempt from it."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
