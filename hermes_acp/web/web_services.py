"""The ports for web tools: a page fetcher, a search service and a browser.

This module only selects them according to the settings.
"""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from hermes_acp.core.errors import ConfigError
from hermes_acp.core.plugins import PluginFolder

if TYPE_CHECKING:
    from hermes_acp.config.sections.web_settings import SearchSettings
    from hermes_acp.config.settings import Settings
    from hermes_acp.core.ports.web_ports import SearchEngine
    from hermes_acp.web.browser.browser_pool import BrowserPool
    from hermes_acp.web.search_service import SearchService


class WebServices:
    """The ports for web tools, and the browsers that sessions opened through them."""

    def __init__(self) -> None:
        self._browsers: dict[tuple[str, frozenset[str]], BrowserPool] = {}

    def ports(self, settings: "Settings", variables: Mapping[str, str]) -> dict[str, object]:
        """Return the ports by name, with None for unconfigured ones. Raises ConfigError."""
        from hermes_acp.web.page_fetcher import FetchLimits, PageFetcher

        section = settings.web
        private_hosts = frozenset(section.allow_private)
        bounds = FetchLimits(
            most_bytes=section.most_bytes, timeout_s=section.timeout_s, private_hosts=private_hosts
        )
        return {
            "web": PageFetcher(bounds),
            "search_engine": _search_engine(section.search, variables) if section.search else None,
            "browsers": self._browsers_for(settings, variables, private_hosts),
        }

    def _browsers_for(
        self, settings: "Settings", variables: Mapping[str, str], private_hosts: frozenset[str]
    ) -> "BrowserPool | None":
        """Return the browsers for an executable; open browsers survive a change of the settings."""
        if not settings.browser.is_offered:
            return None
        from hermes_acp.web.browser.browser_pool import BrowserPool, find_browser

        folders = variables.get("PATH", os.defpath).split(os.pathsep)
        executable = find_browser(settings.browser.executable, folders)
        if executable is None:
            return None
        key = (executable, private_hosts)
        if key not in self._browsers:
            self._browsers[key] = BrowserPool(executable, private_hosts, variables)
        return self._browsers[key]

    async def release(self, session_id: str) -> None:
        """Close what a session has opened."""
        for browsers in self._browsers.values():
            await browsers.release(session_id)


def search_key(settings: "Settings", variables: Mapping[str, str]) -> str:
    """Return the search service's key, or an empty string if there is none."""
    section = settings.web.search
    if section is None:
        return ""
    return variables.get(_key_variable(section, _service(section)), "").strip()


def _search_engine(section: "SearchSettings", variables: Mapping[str, str]) -> "SearchEngine":
    from hermes_acp.web.search_client import SearchClient

    service = _service(section)
    variable = _key_variable(section, service)
    key = variables.get(variable, "").strip() if variable else ""
    if variable and not key:
        raise ConfigError(
            f"`web.search` names {section.provider}, but {variable} is not set.",
            hint=f"Put {variable}=… into .env in the home folder, or remove web.search.",
        )
    return SearchClient(service, section.base_url or service.base_url, key)


def _service(section: "SearchSettings") -> "SearchService":
    plugin_folder: PluginFolder[SearchService] = PluginFolder("hermes_acp.web.search_services", "SERVICE")
    return plugin_folder.open(section.provider)


def _key_variable(section: "SearchSettings", service: "SearchService") -> str:
    return section.api_key_variable or service.key_variable
