"""When garbage is collected: from the end of the start-up on."""

import gc


def enable_garbage_collection() -> None:
    """Turn garbage collection on; objects made during start-up are never examined again."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
