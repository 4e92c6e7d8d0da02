"""`serve:` in a settings file."""

from typing import Annotated

from pydantic import Field

from hermes_acp.config.settings_section import Section


class ServerSettings(Section):
    """The server that `hermes-acp serve` runs."""

    max_connections: Annotated[int, Field(ge=1)] | None = None
    """Connected clients. Default: a quarter of the files that the process may have open, at most 4096."""
    drain_seconds: Annotated[float, Field(ge=0)] = 20.0
    """Seconds that running turns get to end after SIGTERM."""
    open_metrics: bool = False
    """Whether programs on this machine can read `/metrics` without the token. It tells how much is done, not what."""
