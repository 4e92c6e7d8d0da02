"""`hooks:` in a settings file: the user's own commands, run at certain points in a session."""

from typing import Annotated, Final, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from hermes_acp.config.settings_section import Section

HookEvent = Literal["session_start", "prompt", "before_tool", "after_tool", "turn_end", "question"]
HookFormat = Literal["hermes", "claude"]
EVENTS: Final[tuple[HookEvent, ...]] = (
    "session_start",
    "prompt",
    "before_tool",
    "after_tool",
    "turn_end",
    "question",
)
TOOL_EVENTS: Final = ("before_tool", "after_tool")
REFUSING_EVENTS: Final = ("prompt", "before_tool")
MAX_TIMEOUT_S: Final = 600
MAX_COMMAND_CHARACTERS: Final = 10_000

HookName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][\w.-]*$", max_length=60)]


class HookSettings(Section):
    """A command that runs at a certain point of every session."""

    event: HookEvent
    """When the command runs."""
    command: str = Field(
        min_length=1, max_length=MAX_COMMAND_CHARACTERS, pattern=r"^[^\x00]*[^\x00\s][^\x00]*$"
    )
    """Shell command. It gets the event as JSON on standard input."""
    tools: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    """Patterns for the tools that it applies to, such as `edit_file` or `mcp_*`, or kinds such as `edit`.
    Default: all.
    """
    paths: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    """Globs for the files a call reads, writes or deletes, such as `src/**/*.py`. Default: any call."""
    timeout_s: Annotated[float, Field(gt=0, le=MAX_TIMEOUT_S)] = 30.0
    """Time limit in seconds, at most 600. After that, the command and everything it started is killed."""
    required: bool = False
    """Whether the prompt or call is refused if the hook fails or times out. For `prompt` and `before_tool`."""
    enabled: bool = True
    """Whether the hook runs."""
    format: HookFormat = "hermes"
    """The JSON that the command reads and answers: ours, or `claude` for hooks written for Claude Code or Codex."""

    @model_validator(mode="after")
    def _check_fits_event(self) -> Self:
        if (self.tools or self.paths) and self.event not in TOOL_EVENTS:
            raise ValueError(f"tools and paths only apply to {' and '.join(TOOL_EVENTS)}")
        if self.required and self.event not in REFUSING_EVENTS:
            raise ValueError(f"required only applies to {' and '.join(REFUSING_EVENTS)}")
        return self
