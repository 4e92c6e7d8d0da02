"""The browser that tests drive: the one that the product would choose, unless a variable names another."""

import os
import shutil

from hermes_acp.web.browser.browser_pool import find_browser


def chromium() -> str | None:
    """Return the path to Chromium; its headless shell is preferred, because it starts with a quarter of the work."""
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return find_browser(os.environ.get("HERMES_TEST_CHROMIUM"), folders)


def whole_chromium() -> str | None:
    """Return the path to the full browser; unlike its headless shell, it supports a microphone."""
    named = os.environ.get("HERMES_TEST_CHROMIUM")
    return named or shutil.which("chromium") or shutil.which("google-chrome")
