"""The web: pages, search engines, a browser, the injection scanner."""

from collections.abc import Callable, Sequence
from typing import Literal, Protocol

from msgspec import Struct


class Page(Struct, frozen=True):
    """A web page as text; `url` is where it was found in the end, `is_cut` tells that there is more of it.

    One that only leads elsewhere, to where nobody went, has no text but `moved_to` and, in `note`, why not.
    """

    url: str
    status: int
    text: str
    is_cut: bool = False
    moved_to: str = ""
    note: str = ""


class WebSearchHit(Struct, frozen=True):
    """One page a search engine found; `date` as the engine writes it, empty where unknown."""

    title: str
    url: str
    snippet: str
    date: str = ""


class BrowserAction(Struct, frozen=True):
    """One thing to do in a browser: `ref` names an element of the last snapshot, `text` is what to type.

    A `key` is pressed after typing. Where `sees_private`, the address itself may be one of this machine's network.
    """

    kind: Literal["navigate", "snapshot", "click", "type", "screenshot", "back", "close"]
    url: str = ""
    ref: str = ""
    text: str = ""
    key: str = ""
    sees_private: bool = False


class BrowserSnapshot(Struct, frozen=True):
    """What a browser shows: its page as a tree of elements with refs; `image` is a PNG where one was asked for.

    `notes` are sentences on what happened meanwhile, such as a navigation that was refused; pages have a say in their
    words. `trouble` says why nothing is shown.
    """

    url: str = ""
    title: str = ""
    text: str = ""
    image: bytes = b""
    notes: tuple[str, ...] = ()
    trouble: str = ""


class WebFetcher(Protocol):
    """The pages of the web."""

    def require_public(self, url: str) -> None:
        """Refuse a URL that itself says that it leads to a private address. Raises BadRequest, WorkspaceError."""
        ...

    async def fetch(self, url: str, may_redirect: Callable[[str, str], bool]) -> Page:
        """Fetch a page's text; a redirect to another host is followed only where `may_go_on(host, url)` says so.

        Raises BadRequest, WorkspaceError.
        """
        ...


class SearchEngine(Protocol):
    """A search engine of the user's choice."""

    @property
    def name(self) -> str:
        """Its name, as the user knows it."""
        ...

    @property
    def host(self) -> str:
        """The host that queries go to."""
        ...

    async def search(self, query: str, most: int) -> Sequence[WebSearchHit]:
        """Find pages, the best first. Raises WorkspaceError."""
        ...


class Scanner(Protocol):
    """Whoever looks through foreign text for what attacks its reader."""

    def clean(self, text: str) -> str:
        """Return the text with such passages taken out and marked. Costs time linear in its length."""
        ...


class Browser(Protocol):
    """One browser for each session, opened when it is first used."""

    async def act(
        self, session_id: str, act: BrowserAction, may_redirect: Callable[[str, str], bool]
    ) -> BrowserSnapshot:
        """Do one thing in the session's browser, and give what it shows then.

        The page may lead to another host only where `may_go_on(host, url)` says so. Raises WorkspaceError.
        """
        ...
