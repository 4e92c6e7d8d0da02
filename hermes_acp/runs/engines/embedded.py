"""The embedded engine: SQLite in the home, for all processes of one machine. Needs nothing else."""

from pathlib import Path

from hermes_acp.core.ports.runtime_ports import Clock
from hermes_acp.core.ports.schedule_ports import Engine
from hermes_acp.runs.engine_settings import EngineSettings


def open_runs(home: Path, clock: Clock, settings: EngineSettings) -> Engine:
    """Return the engine of a home; nothing is opened before its first use."""
    from hermes_acp.runs.sqlite.embedded_runs import EmbeddedRuns

    return EmbeddedRuns(home, clock, settings)


ENGINE = open_runs
