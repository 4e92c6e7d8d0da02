"""Model endpoints, and the protocols that plugins in `models/providers` implement."""

from typing import Any, Protocol

from msgspec import Struct, structs

from hermes_acp.config.provider_presets import Quirks
from hermes_acp.core.ports.model_ports import ListedModel, Provider


class Endpoint(Struct, frozen=True):
    """An endpoint. An empty `base_url` or `key_variable` means the vendor's own; an empty `name` means the plugin's.

    `api_key` is the credential; for Amazon, it may be an ID, a secret and a token joined by colons. `key_variable` is
    the name that the user is told when the key is refused. `silence_s` limits every silence and `first_word_s` the
    first one, if the user set them; see `models.wire.response_timeouts`. `credential_source` says where credentials
    come from if there is no key (`config.credential_sources`). No key, header value or password in the URL is ever
    shown.
    """

    base_url: str = ""
    api_key: str = ""
    key_variable: str = ""
    connect_s: float = 10.0
    silence_s: float | None = None
    first_word_s: float | None = None
    headers: dict[str, str] = {}
    name: str = ""
    quirks: Quirks = Quirks()
    credential_source: dict[str, str] = {}

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self.__rich_repr__())
        return f"Endpoint({shown})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [
            ("base_url", hide_credentials(self.base_url)),
            ("api_key", "set" if self.api_key else "unset"),
            ("key_variable", self.key_variable),
            ("connect_s", self.connect_s),
            ("silence_s", self.silence_s),
            ("first_word_s", self.first_word_s),
            ("headers", tuple(self.headers)),
            ("name", self.name),
        ]

    def or_own(self, base_url: str, key_variable: str) -> "Endpoint":
        """Return the endpoint, with a missing URL or variable filled in from the vendor's own."""
        return structs.replace(
            self, base_url=self.base_url or base_url, key_variable=self.key_variable or key_variable
        )

    def secrets(self) -> tuple[str, ...]:
        """Return the values that must never appear in any text, the longest first."""
        userinfo = _userinfo(self.base_url)
        key = self.api_key.strip()
        parts = [key, *key.split(":"), *self.headers.values(), userinfo, *userinfo.split(":")]
        return tuple(sorted({part for part in parts if len(part) >= 4}, key=len, reverse=True))


class Connection(Provider, Protocol):
    """A provider bound to an endpoint; keeps connections alive until closed."""

    async def models(self) -> tuple[ListedModel, ...]:
        """Return the endpoint's models. Raises ModelError."""
        ...

    async def own_window(self, model: str) -> int | None:
        """Return the context window that a local server states in its own API, or None."""
        ...

    async def aclose(self) -> None:
        """Close the connections; a later stream opens new ones."""
        ...


class Vendor(Protocol):
    """A wire format; implemented by a plugin in `models/providers`."""

    @property
    def name(self) -> str:
        """Return the plugin's name, as in settings."""
        ...

    def connect(self, endpoint: Endpoint) -> Connection:
        """Bind to an endpoint without touching the network. Raises ConfigError for an invalid URL."""
        ...


def bearer(key: str) -> dict[str, str]:
    """Return the header that sends a key as a bearer token, or no header without a key."""
    return {"authorization": f"Bearer {key}"} if key else {}


def hide_credentials(url: str) -> str:
    """Return a URL without its user name, password and query."""
    userinfo = _userinfo(url)
    bare = url.replace(f"{userinfo}@", "", 1) if userinfo else url
    return bare.partition("?")[0]


def _userinfo(url: str) -> str:
    authority = url.partition("://")[2].partition("/")[0]
    return authority.rpartition("@")[0]
