"""The engine that keeps the runs of a home, by its name in the plugin folder."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from hermes_acp.core.plugins import PluginFolder
from hermes_acp.core.ports.runtime_ports import Clock
from hermes_acp.core.ports.schedule_ports import Engine
from hermes_acp.runs.engine_settings import EngineSettings

OpenEngine = Callable[[Path, Clock, EngineSettings], Engine]
DEFAULT_ENGINE: Final = "embedded"


def open_engine(
    home: Path, clock: Clock, settings: EngineSettings | None = None, name: str = DEFAULT_ENGINE
) -> Engine:
    """Return an engine; nothing is opened before its first use. Raises KeyError for an unknown name."""
    engines: PluginFolder[OpenEngine] = PluginFolder("hermes_acp.runs.engines", "ENGINE")
    return engines.open(name)(home, clock, settings or EngineSettings())
