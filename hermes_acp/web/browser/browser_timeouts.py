"""The time limits of a browser."""

import msgspec


class BrowserTimeouts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How long the parts of an action may take before the browser goes on without them."""

    navigation_ms: int = 30_000
    """Until a page's first bytes arrive."""
    load_ms: int = 8_000
    """Until a page that has been navigated to is parsed."""
    action_ms: int = 8_000
    """For a click, a key, a screenshot."""
    settle_ms: int = 3_000
    """Until everything on the page is loaded after an action."""
    snapshot_ms: int = 4_000
    """For a frame whose page was refused; then the snapshot shows the other frames."""
    chooser_ms: int = 8_000
    """Until a page asks for the file that is to be uploaded."""
    offer_ms: int = 15_000
    """Until a page offers the file that is to be downloaded."""
    shutdown_grace_s: float = 5.0
    """Until a browser that is to close has ended by itself."""
