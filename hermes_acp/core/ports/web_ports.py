"""Ports to the web: pages, search engines, the browser and the injection scanner."""

from collections.abc import Callable, Sequence
from typing import Final, Literal, Protocol

from msgspec import Struct

MAX_BROWSER_FILE_BYTES: Final = 20_000_000
"""The maximum size, in bytes, of a file uploaded to a page or downloaded from one."""


class Page(Struct, frozen=True):
    """A web page as text; `url` is the final address, and `is_cut` means that the text was truncated.

    A redirect that was not followed has no text; its target is `moved_to`, and `note` gives the reason.
    """

    url: str
    status: int
    text: str
    is_cut: bool = False
    moved_to: str = ""
    note: str = ""


class WebSearchHit(Struct, frozen=True):
    """A web search result; `date` is as given by the engine, or empty if unknown."""

    title: str
    url: str
    snippet: str
    date: str = ""


class BrowserFile(Struct, frozen=True):
    """A file to upload, or a file that a page offered; in the latter case, the page chose the name."""

    name: str
    content: bytes


BrowserActionKind = Literal[
    "navigate", "snapshot", "click", "type", "press", "hover", "select", "scroll", "wait_for", "wait_gone", "tabs",
    "close_tab", "upload", "download", "screenshot", "back", "close",
]  # fmt: skip


class BrowserAction(Struct, frozen=True):
    """An action in a browser: `ref` names an element of the last snapshot; `text` is typed, chosen or waited for.

    For `scroll`, `text` is the direction. `key` is pressed, for `type` after typing. With `sees_private`, the address
    may be in this machine's private network. `tab` counts from 1. `wait_for` and `wait_gone` wait for at most
    `seconds`. A `file` is uploaded only to an element on a page from `host`.
    """

    kind: BrowserActionKind
    url: str = ""
    ref: str = ""
    text: str = ""
    key: str = ""
    sees_private: bool = False
    tab: int = 0
    seconds: float = 0
    host: str = ""
    file: BrowserFile | None = None


class BrowserSnapshot(Struct, frozen=True):
    """The page in a browser as a tree of elements with refs; `image` is a PNG if one was requested.

    `notes` are sentences about events in the meantime, such as a refused navigation; pages can influence their wording.
    `trouble` says why nothing is shown. `download` is the file that the action downloaded.
    """

    url: str = ""
    title: str = ""
    text: str = ""
    image: bytes = b""
    notes: tuple[str, ...] = ()
    trouble: str = ""
    download: BrowserFile | None = None


class WebFetcher(Protocol):
    """Fetches web pages."""

    def require_public(self, url: str) -> None:
        """Reject a URL that leads to a private address. Raises BadRequest or WorkspaceError."""
        ...

    async def fetch(self, url: str, may_redirect: Callable[[str, str], bool]) -> Page:
        """Fetch a page's text; follow a redirect to another host only if `may_redirect(host, url)` returns True.

        Raises BadRequest or WorkspaceError.
        """
        ...


class SearchEngine(Protocol):
    """The web search engine that the user chose."""

    @property
    def name(self) -> str:
        """The engine's name, as the user knows it."""
        ...

    @property
    def host(self) -> str:
        """The host to which queries are sent."""
        ...

    async def search(self, query: str, most: int) -> Sequence[WebSearchHit]:
        """Return matching pages, best first. Raises WorkspaceError."""
        ...


class Scanner(Protocol):
    """The injection scanner for text from other people."""

    def clean(self, text: str) -> str:
        """Return the text with injected passages removed and their places marked. Takes linear time."""
        ...


class Browser(Protocol):
    """A browser for each session, opened on first use."""

    async def act(
        self, session_id: str, act: BrowserAction, may_redirect: Callable[[str, str], bool]
    ) -> BrowserSnapshot:
        """Perform one action in the session's browser, and return the resulting page.

        The page may navigate to another host only if `may_redirect(host, url)` returns True. Raises WorkspaceError.
        """
        ...
