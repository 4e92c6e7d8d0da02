"""Create the configured external memory service, if any. Blocks."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from hermes_acp.core.errors import ConfigError
from hermes_acp.core.plugins import PluginFolder
from hermes_acp.core.ports.runtime_ports import StartTask

if TYPE_CHECKING:
    from hermes_acp.config.sections.memory_settings import MemorySettings
    from hermes_acp.memory.external_memory import ExternalMemory
    from hermes_acp.memory.external_memory_service import MemoryService


class ExternalMemoryManager:
    """Owns the configured service; `start` runs a task in the background."""

    def __init__(self, start: StartTask) -> None:
        self._start = start
        self._memory: ExternalMemory | None = None

    def equip(
        self, settings: "MemorySettings", variables: Mapping[str, str], clean: Callable[[str], str]
    ) -> "ExternalMemory | None":
        """Return the configured service, or None if there is none; `clean` removes secrets.

        Raises ConfigError if the key is missing.
        """
        self._memory = None
        section = settings.service
        if section is None or not settings.enabled:
            return None
        from hermes_acp.memory.external_memory import ExternalMemory
        from injection_scanner.scanner import scan

        service = _service(section.provider)
        key = memory_key(settings, variables)
        if not key and section.base_url is None:
            variable = section.api_key_variable or service.key_variable
            raise ConfigError(
                f"`memory.service` names {section.provider}, but {variable} is not set.",
                hint=f"Put {variable}=… into .env in the home folder, or remove memory.service.",
            )
        self._memory = ExternalMemory(
            service,
            section.base_url or service.base_url,
            key,
            names=(section.workspace, section.user),
            clean=clean,
            scan=lambda text: scan(text).clean_text,
            start=self._start,
        )
        return self._memory

    def news(self) -> Sequence[str]:
        """Return notices for the user, each only once."""
        return self._memory.news() if self._memory else ()

    async def release(self, session_id: str) -> None:
        """Release the resources of a session that is closing."""
        if self._memory:
            await self._memory.release(session_id)


def memory_key(settings: "MemorySettings", variables: Mapping[str, str]) -> str:
    """Return the memory service's key, or an empty string if none is set."""
    section = settings.service
    if section is None:
        return ""
    return variables.get(section.api_key_variable or _service(section.provider).key_variable, "").strip()


def _service(name: str) -> "MemoryService":
    plugin_folder: PluginFolder[MemoryService] = PluginFolder("hermes_acp.memory.services", "SERVICE")
    return plugin_folder.open(name)
