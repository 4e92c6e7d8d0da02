"""`serve:` in a settings file."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from hermes_acp.config.settings_section import Section

HookName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,59}$")]


class WebhookSettings(Section):
    """What a signed request to `POST /hooks/NAME` starts."""

    secret_env: str = Field(min_length=1)
    """The variable with the secret that requests are signed with, in the environment or in `.env`."""
    prompt: str = Field(min_length=1)
    """What the agent should do. The content of the request follows it, marked as data."""
    folder: str = Field(min_length=1)
    """The folder to work in, as an absolute path."""
    fields: tuple[str, ...] = ()
    """The parts of a JSON body that the agent is shown, such as `pull_request.title`. Default: all of it."""
    mode: Literal["ask", "accept_edits", "plan", "auto", "bypass"] | None = None
    """The permission mode. Default: as in other sessions."""
    model: str | None = None
    """The model. Default: the usual one."""
    backend: str | None = None
    """Where commands run. Default: as in other sessions."""
    max_steps: Annotated[int, Field(ge=1)] | None = None
    """Model calls that the run may make."""
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    """Tokens that the run may use."""
    max_cost_usd: Annotated[float, Field(gt=0)] | None = None
    """Money that the run may cost."""
    timeout_s: Annotated[float, Field(gt=0)] | None = None
    """Seconds that each stretch of work may take."""
    priority: Annotated[int, Field(ge=1, le=5)] = 3
    """1 (first) to 5 (last)."""


class ServerSettings(Section):
    """The server that `hermes-acp serve` runs."""

    max_connections: Annotated[int, Field(ge=1)] | None = None
    """Connected clients. Default: a quarter of the files that the process may have open, at most 4096."""
    drain_seconds: Annotated[float, Field(ge=0)] = 20.0
    """Seconds that running turns get to end after SIGTERM."""
    webhooks: dict[HookName, WebhookSettings] = Field(default_factory=dict[HookName, WebhookSettings])
    """What other programs can start with a signed request, by name."""
    open_metrics: bool = False
    """Whether programs on this machine can read `/metrics` without the token. It shows how much is done, not what."""
