"""The settings of the web, of searching it, and of the browser.

Knows: their bounds and defaults. Does not know: who uses them.
"""

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
    """Which service searches the web, and the variable its key is in; `base_url` is for one that people run."""

    provider: Annotated[str, AfterValidator(_known)]
    api_key_variable: str | None = None
    base_url: str | None = Field(default=None, pattern=r"^https?://[^\s]+$")


class WebSettings(Section):
    """How pages are fetched. Hosts in `allow_private` may lead to addresses that are not the public network's."""

    search: SearchSettings | None = None
    allow_private: tuple[Annotated[str, AfterValidator(_host)], ...] = ()
    timeout_s: Positive = 30.0
    most_bytes: Annotated[int, Field(ge=10_000, le=16 << 20)] = 2 << 20

    @model_validator(mode="after")
    def _check_has_address(self) -> "WebSettings":
        if self.search and self.search.provider == "searxng" and not self.search.base_url:
            raise ValueError("search: searxng is self-hosted, so set its base_url")
        return self


class BrowserSettings(Section):
    """Which Chromium the browser is; where none is named, one on the machine is looked for."""

    executable: str | None = Field(default=None, min_length=1)
    is_offered: bool = True
