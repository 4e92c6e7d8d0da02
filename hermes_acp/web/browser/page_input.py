"""Send input to a page: keys, the mouse, and choices in elements, which are named by the last snapshot's refs."""

import time
from collections.abc import Callable
from typing import Any, Final

from playwright.sync_api import Error, Locator, Page

POLL_INTERVAL_MS: Final = 100
SCROLL: Final = """(element, direction) => {
    const page = document.scrollingElement || document.documentElement;
    const scrolled = element || page;
    const step = Math.round((element ? element.clientHeight : window.innerHeight) * 0.8);
    const tops = {up: scrolled.scrollTop - step, down: scrolled.scrollTop + step, top: 0,
                  bottom: scrolled.scrollHeight};
    scrolled.scrollTo({top: tops[direction], behavior: 'instant'});
    return [scrolled.scrollTop, scrolled.scrollHeight, scrolled.clientHeight].map(Math.round);
}"""


def find_element(page: Page, ref: str) -> Locator:
    """Return an element of the last snapshot. Raises Error if it no longer exists."""
    found = page.locator(f"aria-ref={ref}")
    if not found.count():
        raise Error(f"There is no element {ref} on the page.")
    return found


def type_text(page: Page, act: dict[str, Any]) -> None:
    """Replace a field's text, then press a key if one is named."""
    element = find_element(page, act["ref"])
    element.fill(act["text"])
    if act["key"]:
        element.press(act["key"])


def press_key(page: Page, act: dict[str, Any]) -> None:
    """Press a key in an element, or wherever the focus is."""
    if act["ref"]:
        find_element(page, act["ref"]).press(act["key"])
    else:
        page.keyboard.press(act["key"])


def scroll(page: Page, act: dict[str, Any]) -> str:
    """Scroll an element into view, or scroll the page or an element in a direction; return the resulting position."""
    element = find_element(page, act["ref"]) if act["ref"] else None
    if not act["text"]:
        if element:
            element.scroll_into_view_if_needed()
        return ""
    if element:
        seen = element.evaluate(SCROLL, act["text"])
    else:
        seen = page.evaluate(f"direction => ({SCROLL})(null, direction)", act["text"])
    match seen:
        case [int(top), int(whole), int(shown)]:
            return f"Pixels {top:,} to {top + shown:,} of {whole:,} are in view."
        case _:  # the page has replaced the functions that scroll
            return ""


def wait_for_text(page: Callable[[], Page], text: str, seconds: float, *, is_gone: bool) -> bool:
    """Wait until a string is visible or no longer visible; return whether that happened in time.

    `page` returns the page in view, which may change in the meantime.
    """
    end = time.monotonic() + seconds
    while True:
        if _shows(page(), text) != is_gone:
            return True
        if time.monotonic() >= end:
            return False
        page().wait_for_timeout(POLL_INTERVAL_MS)


def _shows(page: Page, text: str) -> bool:
    for frame in page.frames:
        try:
            if frame.get_by_text(text).filter(visible=True).count():
                return True
        except Error:  # the frame is gone or is being loaded
            continue
    return False
