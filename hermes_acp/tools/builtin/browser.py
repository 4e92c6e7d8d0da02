"""The `browser` tool: use a web browser."""

from base64 import b64encode
from typing import Annotated, Final, Literal

from anyio.to_thread import run_sync
from pydantic import BaseModel, ConfigDict, Field, model_validator

from hermes_acp.core.errors import InternalError
from hermes_acp.core.event_types import ToolKind
from hermes_acp.core.messages import ImagePart, ToolSchema
from hermes_acp.core.ports.web_ports import Browser, BrowserAction, BrowserSnapshot, Scanner
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.core.proposals import Effect, Presses, Progress, Proposal, Reaches, Result
from hermes_acp.core.tool_metadata import ToolMetadata
from hermes_acp.core.untrusted_text import fence, plain
from hermes_acp.tools.safe_display import escape_invisible
from hermes_acp.tools.tool_schemas import schema_of
from hermes_acp.web.web_addresses import read_address

ACTION_TIMEOUT_S: Final = 120.0

NOTE_CHARACTERS = 800


class Arguments(BaseModel):
    """What to do, and with which element."""

    model_config = ConfigDict(extra="forbid")

    action: Literal["navigate", "snapshot", "click", "type", "screenshot", "back", "close"]
    """What to do."""
    url: str | None = None
    """The page to open."""
    ref: Annotated[
        str | None, Field(pattern=r"^[a-z0-9]{1,20}$", description="A ref of the last snapshot, such as e5")
    ] = None
    """The element, by its ref in the latest snapshot, such as `e5`."""
    text: str | None = None
    """The text to type."""
    key: Annotated[str | None, Field(pattern=r"^[A-Za-z0-9+]{1,40}$", description="Pressed after typing")] = (
        None
    )
    """The key to press after typing."""

    @model_validator(mode="after")
    def _is_whole(self) -> "Arguments":
        wanted = {"navigate": ("url",), "click": ("ref",), "type": ("ref", "text")}.get(self.action, ())
        missing = [name for name in wanted if getattr(self, name) is None]
        if missing:
            raise ValueError(f"{self.action} needs {' and '.join(missing)}")
        return self


class _NoBrowser:
    """A placeholder until the tool is bound."""

    async def act(self, session_id: str, act: BrowserAction, may_redirect: object) -> BrowserSnapshot:
        raise InternalError("browser was offered without one.")

    def clean(self, text: str) -> str:
        raise InternalError("browser was offered without a scanner.")


class BrowserTool:
    """Open web pages and use them as a person would: click, type, scroll."""

    name = "browser"
    kind: ToolKind = "fetch"
    tool_metadata = ToolMetadata(capabilities=frozenset({"network"}))
    arguments: type[BaseModel] = Arguments

    def __init__(self, browsers: Browser, scanner: Scanner) -> None:
        self._browsers = browsers
        self._scanner = scanner

    def bind(self, browsers: Browser | None, scanner: Scanner) -> "BrowserTool | None":
        """Return the tool bound to a browser, or None if there is no browser."""
        return BrowserTool(browsers, scanner) if browsers else None

    def schema(self) -> ToolSchema:
        """Describe the tool to a model."""
        about = "Use a web browser. Each action returns the page as a tree whose elements have refs."
        return schema_of(self.name, about, Arguments)

    async def propose(self, arguments: Arguments, workspace: Workspace) -> Proposal:
        """Propose a call. Only a navigation names a host; other hosts it leads to are checked when they are reached."""
        del workspace
        url, sees_private = "", False
        effects: tuple[Effect, ...] = (
            (Presses(sends_text=arguments.action == "type"),) if arguments.action in ("click", "type") else ()
        )
        if arguments.action == "navigate":
            address = read_address(arguments.url or "")
            url, sees_private = address.url, address.is_private_address
            effects = (Reaches(address.host, url, is_all_sent=True),)
        act = BrowserAction(
            arguments.action,
            url=url,
            ref=arguments.ref or "",
            text=arguments.text or "",
            key=arguments.key or "",
            sees_private=sees_private,
        )

        async def perform(progress: Progress) -> Result:
            def may_redirect(host: str, onward: str) -> bool:
                return progress.allows(Reaches(host, onward))

            return await self._told(act, await self._browsers.act(progress.session_id, act, may_redirect))

        return Proposal(_title(arguments, url), self.kind, perform, effects, deadline_s=ACTION_TIMEOUT_S)

    async def _told(self, act: BrowserAction, view: BrowserSnapshot) -> Result:
        """Return the view, fenced: the page, its title and its messages are untrusted text."""
        notes = [f"[{plain(note, NOTE_CHARACTERS)}]" for note in view.notes]
        if act.kind == "close":
            return Result("\n".join(notes))
        parts = ()
        lines = [
            f"{plain(view.title) or '(no title)'} at {plain(view.url, 1000)}",
            view.text or "(an empty page)",
        ]
        if view.trouble:
            lines = []
        elif view.image:
            parts = (ImagePart("image/png", b64encode(view.image).decode()),)
            lines[1] = "(a screenshot follows)"
        seen = await run_sync(self._scanner.clean, "\n".join((*lines, *notes)))
        told = [plain(view.trouble, NOTE_CHARACTERS)] if view.trouble else []
        told += [fence(seen, "Page in the browser", 120_000)] if seen else []
        return Result("\n".join(told), parts=parts, is_error=bool(view.trouble))


def _title(arguments: Arguments, url: str) -> str:
    match arguments.action:
        case "navigate":
            return f"Open {escape_invisible(url)} in the browser"
        case "click":
            return f"Click {arguments.ref} in the browser"
        case "type":
            return f"Type {escape_invisible(arguments.text or '')} into {arguments.ref} in the browser"
        case "screenshot":
            return "Take a screenshot of the browser"
        case "back":
            return "Go back in the browser"
        case "close":
            return "Close the browser"
        case _:
            return "Look at the page in the browser"


TOOL = BrowserTool(_NoBrowser(), _NoBrowser())
