"""`gateway:` in a settings file. Secrets are in `.env`, in variables that begin with `HERMES_GATEWAY_`."""

from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from hermes_acp.config.settings_section import Positive, Section

SECRET_PREFIX: Final = "HERMES_GATEWAY_"
Folder = Annotated[str, Field(pattern=r"^/[^\x00-\x1f]*$")]
Host = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:-]+$")]
Port = Annotated[int, Field(ge=1, le=65535)]
ProfileName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,31}$")]
PlatformName = Literal["matrix"]


class MatrixSettings(Section):
    """An account on a Matrix server. Its access token is in `HERMES_GATEWAY_MATRIX_TOKEN`."""

    homeserver: Annotated[str, Field(pattern=r"^https?://[^\s]+$")]
    """Address of the server."""
    user: Annotated[str, Field(pattern=r"^@[^:\s]+:[^\s]+$")]
    """The account, such as `@agent:example.org`."""
    device: str = "hermes-acp"
    """Device ID of the token, which lets the server recognise repeated messages."""


class GatewayRoomSettings(Section):
    """A room with several people, who share its profile."""

    platform: PlatformName
    """Platform of the room."""
    id: Annotated[str, Field(min_length=1)]
    """The platform's own, unchangeable ID of the room."""
    workspace: Folder | None = None
    """Folder in which the room's sessions work. Default: `gateway.workspace`."""
    profile: ProfileName | None = None
    """Profile of the room's sessions. Default: the gateway's own."""
    listens: Literal["mentions", "all"] = "mentions"
    """Which messages of admitted people are for the agent: those that mention or answer it, or all."""
    mode: Literal["plan", "ask", "accept_edits", "auto"] = "plan"
    """Mode of the room's new sessions."""


class PlatformsSettings(Section):
    """The platforms to connect to."""

    matrix: MatrixSettings | None = None


class GatewaySettings(Section):
    """Chat platforms from which people reach the agent. The resident process runs the gateway if any is named."""

    platforms: PlatformsSettings = PlatformsSettings.defaults()
    workspace: Folder | None = None
    """Folder in which sessions of direct messages work."""
    rooms: tuple[GatewayRoomSettings, ...] = ()
    """Rooms in which the agent answers. It says nothing in others."""
    approval: Literal["asker_and_approver", "approver", "asker"] = "asker_and_approver"
    """Whose yes a call needs: that of the person who asked and that of an approver, or that of one of them. An approver
    who asked answers for both.
    """
    question_timeout_s: Positive = 3600.0
    """Seconds after which an unanswered question counts as refused."""
    web_page: str | None = Field(default=None, pattern=r"^https?://[^\s]+$")
    """Address of the web page, if it is served. Long diffs are shown there."""

    @model_validator(mode="after")
    def _check_rooms(self) -> Self:
        named = [(room.platform, room.id) for room in self.rooms]
        if len(set(named)) < len(named):
            raise ValueError("a room is named twice")
        return self


class ReachSettings(Section):
    """How people are reached."""

    gateway: GatewaySettings = GatewaySettings.defaults()


def secret_variable(platform: str, name: str) -> str:
    """Return the variable that holds a platform's secret."""
    return f"{SECRET_PREFIX}{platform.upper()}_{name.upper()}"
