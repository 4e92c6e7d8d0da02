"""The web: pages, search engines, a browser, the injection scanner."""

from collections.abc import Callable, Sequence
from typing import Literal, Protocol

from msgspec import Struct


class Page(Struct, frozen=True):
    """A web page as text; `url` is the final address, `is_cut` says that there is more of it.

    A redirect that was not followed has no text but `moved_to` and, in `note`, why not.
    """

    url: str
    status: int
    text: str
    is_cut: bool = False
    moved_to: str = ""
    note: str = ""


class WebSearchHit(Struct, frozen=True):
    """One result of a web search; `date` as the engine writes it, empty where unknown."""

    title: str
    url: str
    snippet: str
    date: str = ""


class BrowserAction(Struct, frozen=True):
    """One action in a browser: `ref` names an element of the last snapshot, `text` is what to type.

    A `key` is pressed after typing. With `sees_private` the address may be in this machine's private network.
    """

    kind: Literal["navigate", "snapshot", "click", "type", "screenshot", "back", "close"]
    url: str = ""
    ref: str = ""
    text: str = ""
    key: str = ""
    sees_private: bool = False


class BrowserSnapshot(Struct, frozen=True):
    """The page in a browser as a tree of elements with refs; `image` is a PNG where one was asked for.

    `notes` are sentences on what happened meanwhile, such as a refused navigation; pages influence their words.
    `trouble` says why nothing is shown.
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
        """Refuse a URL that leads to a private address. Raises BadRequest, WorkspaceError."""
        ...

    async def fetch(self, url: str, may_redirect: Callable[[str, str], bool]) -> Page:
        """Fetch a page's text; follow a redirect to another host only where `may_redirect(host, url)` is true.

        Raises BadRequest, WorkspaceError.
        """
        ...


class SearchEngine(Protocol):
    """The web search engine that the user chose."""

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
    """The injection scanner for text from others."""

    def clean(self, text: str) -> str:
        """Return the text with injected passages removed and marked. Takes time linear in its length."""
        ...


class Browser(Protocol):
    """One browser for each session, opened when it is first used."""

    async def act(
        self, session_id: str, act: BrowserAction, may_redirect: Callable[[str, str], bool]
    ) -> BrowserSnapshot:
        """Do one action in the session's browser, and return what it shows then.

        The page may navigate to another host only where `may_redirect(host, url)` is true. Raises WorkspaceError.
        """
        ...
