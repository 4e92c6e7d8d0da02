"""Uploads to a page and downloads from it by the agent; everything that a page tries on its own is refused.

The content of an upload comes from the agent's process, and that of a download goes there, so pages never name paths.
"""

import os
import time
from base64 import b64decode, b64encode
from collections.abc import Callable
from mimetypes import guess_type
from typing import Any, Final

from playwright.sync_api import Download, ElementHandle, Error, FileChooser, FilePayload, Locator, Page

from hermes_acp.core.ports.web_ports import MAX_BROWSER_FILE_BYTES
from hermes_acp.web.browser.browser_timeouts import BrowserTimeouts
from hermes_acp.web.browser.request_hosts import host_of_frame

POLL_INTERVAL_MS: Final = 50
MAX_NAME_CHARACTERS: Final = 200
IS_FILE_INPUT: Final = "element => element.matches('input[type=file]')"


class FileTransfers:
    """The uploads and downloads of one browser."""

    def __init__(self, note: Callable[[str], None], timeouts: BrowserTimeouts) -> None:
        self._note = note
        self._timeouts = timeouts
        self._is_uploading = False
        self._is_waiting = False
        self._offered: Download | None = None

    def refuse_chooser(self, chooser: FileChooser) -> None:
        """Report that a page asks for a file, which it only gets while an upload is in progress."""
        del chooser
        if not self._is_uploading:
            self._note("The page asked for a file and got none.")

    def take_offer(self, download: Download) -> None:
        """Keep the first download that an action waits for, and refuse all others."""
        if self._is_waiting and self._offered is None:
            self._offered = download
            return
        name = download.suggested_filename[:MAX_NAME_CHARACTERS]
        self._note(f"The page offered a download of {name}, which was refused.")
        download.cancel()

    def upload(self, page: Page, element: Locator, host: str, file: dict[str, str]) -> None:
        """Give a file to an element of a page or frame of `host`: a file field, or a button that asks for a file.

        Raises Error if the element belongs to another host or does not ask for a file.
        """
        handle = element.element_handle()
        _require_host(handle, host)
        name = file["name"]
        kind = guess_type(name)[0] or "application/octet-stream"
        payload = FilePayload(name=name, mimeType=kind, buffer=b64decode(file["content"]))
        if handle.evaluate(IS_FILE_INPUT):
            handle.set_input_files(payload)
            return
        self._is_uploading = True
        try:
            with page.expect_file_chooser(timeout=self._timeouts.chooser_ms) as asked:
                element.click()
            _require_host(asked.value.element, host)
            asked.value.set_files(payload)
        finally:
            self._is_uploading = False

    def download(self, page: Callable[[], Page], element: Locator) -> dict[str, Any]:
        """Click an element and return the file that the page then offers, with the name that it suggests.

        `page` returns the page in view. Raises Error if no file is offered or the file is too large.
        """
        self._offered, self._is_waiting = None, True
        try:
            element.click()
            end = time.monotonic() + self._timeouts.offer_ms / 1000
            while self._offered is None:
                if time.monotonic() >= end:
                    raise Error("The page did not offer a file for download.")
                page().wait_for_timeout(POLL_INTERVAL_MS)
        finally:
            self._is_waiting = False
        return _content_of(self._offered)


def _content_of(offer: Download) -> dict[str, Any]:
    """Wait for a download to end and return its content; no copy remains."""
    name = offer.suggested_filename[:MAX_NAME_CHARACTERS]
    if why := offer.failure():
        raise Error(f"The download of {name} failed: {why}")
    path = offer.path()
    size_bytes = os.path.getsize(path)
    if size_bytes > MAX_BROWSER_FILE_BYTES:
        offer.delete()
        raise Error(f"{name} has {size_bytes:,} bytes; downloads may have up to {MAX_BROWSER_FILE_BYTES:,}.")
    content = path.read_bytes()
    offer.delete()
    return {"name": name, "content": b64encode(content).decode()}


def _require_host(element: ElementHandle, host: str) -> None:
    """Raise Error unless an element belongs to a page or frame of a host, whose scripts would get the file."""
    actual = host_of_frame(element.owner_frame())
    if actual != host:
        raise Error(f"The element belongs to {actual or 'no host'}, not to {host}: nothing was uploaded.")
