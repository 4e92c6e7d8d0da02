"""Turn on garbage collection after start-up."""

import gc


def enable_garbage_collection() -> None:
    """Turn garbage collection on; objects created during start-up are never examined again."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
