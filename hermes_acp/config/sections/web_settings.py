"""The settings for web pages, web search and the browser."""

from typing import Annotated, Final

from pydantic import AfterValidator, Field, model_validator

from hermes_acp.config.settings_section import Positive, Section
from hermes_acp.core.plugins import PluginFolder

SERVICES: Final = "hermes_acp.web.search_services"


def _known(name: str) -> str:
    known = PluginFolder[object](SERVICES, "SERVICE").names()
    if name not in known:
        raise ValueError(f"must be one of {', '.join(known)}")
    return name


def _host(written: str) -> str:
    host = written.strip().rstrip(".").lower()
    if not host or "/" in host or "*" in host:
        raise ValueError("must be the name or the address of one host")
    return host.strip("[]")


class SearchSettings(Section):
    """The web search service."""

    provider: Annotated[str, AfterValidator(_known)]
    """Name of the search service."""
    api_key_variable: str | None = None
    """Variable that contains the service's key, if it is not the default one."""
    base_url: str | None = Field(default=None, pattern=r"^https?://[^\s]+$")
    """Address of the service. Required for `searxng`, which you host yourself."""


class WebSettings(Section):
    """How web pages are fetched."""

    search: SearchSettings | None = None
    """Web search service."""
    allow_private: tuple[Annotated[str, AfterValidator(_host)], ...] = ()
    """Hosts that may resolve to private network addresses."""
    timeout_s: Positive = 30.0
    """Timeout per page, in seconds."""
    most_bytes: Annotated[int, Field(ge=10_000, le=16 << 20)] = 2 << 20
    """Maximum bytes loaded per page, after decompression."""

    @model_validator(mode="after")
    def _check_has_address(self) -> "WebSettings":
        if self.search and self.search.provider == "searxng" and not self.search.base_url:
            raise ValueError("search: searxng is self-hosted, so set its base_url")
        return self


class BrowserSettings(Section):
    """Settings for the browser."""

    executable: str | None = Field(default=None, min_length=1)
    """Path to Chromium. Default: the one on your `PATH`."""
    is_offered: bool = True
    """Whether the agent can use a browser."""
