"""Choose the engine that stores the runs of a profile."""

from collections.abc import Callable
from typing import Final

from hermes_acp.config.environment import Environment
from hermes_acp.core.plugins import PluginFolder
from hermes_acp.core.ports.runtime_ports import Clock
from hermes_acp.core.ports.schedule_ports import Engine
from hermes_acp.runs.engine_settings import EngineSettings
from hermes_acp.runs.fleet.fleet_access import fleet_database

OpenEngine = Callable[[Environment, Clock, EngineSettings], Engine]
EMBEDDED: Final = "embedded"
FLEET: Final = "temporal"


def engine_name(environment: Environment) -> str:
    """Return the name of the engine for a profile's runs: the fleet engine if its database is configured. Blocks."""
    return FLEET if fleet_database(environment) else EMBEDDED


def open_engine(
    environment: Environment, clock: Clock, settings: EngineSettings | None = None, name: str = ""
) -> Engine:
    """Return an engine, which opens nothing until first use. Raises ConfigError, or KeyError for an unknown name."""
    engines: PluginFolder[OpenEngine] = PluginFolder("hermes_acp.runs.engines", "ENGINE")
    open_runs = engines.open(name or engine_name(environment))
    return open_runs(environment, clock, settings or EngineSettings())
