"""The `browser` tool: use a web browser."""

from base64 import b64encode
from types import MappingProxyType
from typing import Annotated, Final, Literal

from anyio.to_thread import run_sync
from msgspec import structs
from pydantic import BaseModel, ConfigDict, Field, model_validator

from hermes_acp.core.errors import InternalError
from hermes_acp.core.event_types import Location, ToolKind
from hermes_acp.core.messages import ImagePart, ToolSchema
from hermes_acp.core.ports.web_ports import Browser, BrowserAction, BrowserSnapshot, Scanner
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.core.proposals import Effect, Presses, Progress, Proposal, Reaches, Reads, Result, Writes
from hermes_acp.core.tool_metadata import ToolMetadata
from hermes_acp.core.untrusted_text import fence, plain
from hermes_acp.core.visible_text import escape_invisible
from hermes_acp.tools.browser_files import plan_upload, require_new_file, save_download, upload_action
from hermes_acp.tools.safe_display import shown_path
from hermes_acp.tools.tool_schemas import schema_of
from hermes_acp.web.web_addresses import read_address

ACTION_TIMEOUT_S: Final = 120.0

NOTE_CHARACTERS = 800
WAIT_S: Final = 20
DIRECTIONS: Final = ("up", "down", "top", "bottom")
NEEDED: Final = MappingProxyType(
    {
        "navigate": ("url",),
        "click": ("ref",),
        "hover": ("ref",),
        "type": ("ref", "text"),
        "press": ("key",),
        "select": ("ref", "text"),
        "wait_for": ("text",),
        "wait_gone": ("text",),
        "close_tab": ("tab",),
        "upload": ("ref", "path", "url"),
        "download": ("ref", "path"),
    }
)
"""The arguments that each action requires."""


class Arguments(BaseModel):
    """The action, and the element it applies to."""

    model_config = ConfigDict(extra="forbid")

    action: Literal[
        "navigate", "snapshot", "click", "type", "press", "hover", "select", "scroll", "wait_for", "wait_gone",
        "tabs", "close_tab", "upload", "download", "screenshot", "back", "close",
    ]  # fmt: skip
    """What to do."""
    url: Annotated[str | None, Field(description="To open; for upload, the page's own")] = None
    """The page to open or, for an upload, the page that gets the file."""
    ref: Annotated[
        str | None, Field(pattern=r"^[a-z0-9]{1,20}$", description="A ref of the last snapshot, such as e5")
    ] = None
    """The element, by its ref in the latest snapshot, such as `e5`."""
    text: Annotated[
        str | None, Field(description="Typed, selected, waited for; to scroll: up, down, top, bottom")
    ] = None
    """The text to type, the option to select, or the text to wait for.

    For `scroll`, the direction in which the page or the element with `ref` is scrolled; without it, that element is
    scrolled into view.
    """
    key: Annotated[
        str | None,
        Field(pattern=r"^[A-Za-z0-9+]{1,40}$", description="Such as Enter; type presses it last"),
    ] = None
    """The key to press, with `type` after typing."""
    tab: Annotated[int | None, Field(ge=1, description="To show or close")] = None
    """The tab to show or to close, counted from 1."""
    path: Annotated[str | None, Field(min_length=1, description="To upload from or download to")] = None
    """The file to upload, or the new file for a download."""

    @model_validator(mode="after")
    def _is_whole(self) -> "Arguments":
        wanted = NEEDED.get(self.action, ())
        missing = [name for name in wanted if getattr(self, name) is None]
        if self.action == "scroll" and not (self.ref or self.text):
            missing = ["ref or text"]
        if missing:
            raise ValueError(f"{self.action} needs {' and '.join(missing)}")
        if self.action == "scroll" and self.text not in (None, *DIRECTIONS):
            raise ValueError(f"text must be one of {', '.join(DIRECTIONS)} to scroll")
        return self


class _NoBrowser:
    """A placeholder until the tool is bound."""

    async def act(self, session_id: str, act: BrowserAction, may_redirect: object) -> BrowserSnapshot:
        raise InternalError("The browser tool was offered without a browser.")

    def clean(self, text: str) -> str:
        raise InternalError("The browser tool was offered without a scanner.")


class BrowserTool:
    """Open web pages and use them as a person would: click, type, scroll, upload and download files."""

    name = "browser"
    kind: ToolKind = "fetch"
    tool_metadata = ToolMetadata(capabilities=frozenset({"network", "files"}))
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
        """Propose a call.

        Navigations and uploads name a host; other hosts that a page leads to are checked when reached.
        """
        match arguments.action:
            case "upload":
                return await self._propose_upload(arguments, workspace)
            case "download":
                return await self._propose_download(arguments, workspace)
            case _:
                return self._propose_act(arguments)

    def _propose_act(self, arguments: Arguments) -> Proposal:
        url, sees_private = "", False
        effects: tuple[Effect, ...] = ()
        if arguments.action in ("click", "type", "press", "hover", "select"):
            effects = (Presses(sends_text=_sends_text(arguments)),)
        elif arguments.action == "navigate":
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
            tab=arguments.tab or 0,
            seconds=WAIT_S,
        )

        async def perform(progress: Progress) -> Result:
            return await self._told(act, await self._perform(act, progress))

        return Proposal(_title(arguments, url), self.kind, perform, effects, deadline_s=ACTION_TIMEOUT_S)

    async def _propose_upload(self, arguments: Arguments, workspace: Workspace) -> Proposal:
        request = (arguments.ref or "", arguments.path or "", arguments.url or "")
        upload = await plan_upload(*request, workspace)

        async def perform(progress: Progress) -> Result:
            act = await upload_action(upload, workspace, progress)
            return await self._told(act, await self._perform(act, progress))

        title = f"Upload {shown_path(upload.path, workspace)} to {escape_invisible(upload.url)}"
        return Proposal(
            title,
            self.kind,
            perform,
            (
                Reads(upload.path, upload.secret),
                Reaches(upload.host, upload.url),
                Presses(sends_text=True, uploads=upload.path, host=upload.host),
            ),
            (Location(upload.path),),
            deadline_s=ACTION_TIMEOUT_S,
        )

    async def _propose_download(self, arguments: Arguments, workspace: Workspace) -> Proposal:
        path = workspace.locate(arguments.path or "")
        await require_new_file(path, workspace)
        act = BrowserAction("download", ref=arguments.ref or "")

        async def perform(progress: Progress) -> Result:
            view = await self._perform(act, progress)
            if view.download:
                note = await save_download(view.download, path, workspace)
                view = structs.replace(view, notes=(*view.notes, note))
            return await self._told(act, view)

        title = f"Download what {act.ref} in the browser offers, as {shown_path(path, workspace)}"
        effects = (Presses(), Writes(path))
        places = (Location(path),)
        return Proposal(title, self.kind, perform, effects, places, deadline_s=ACTION_TIMEOUT_S)

    async def _perform(self, act: BrowserAction, progress: Progress) -> BrowserSnapshot:
        def may_redirect(host: str, onward: str) -> bool:
            return progress.allows(Reaches(host, onward))

        return await self._browsers.act(progress.session_id, act, may_redirect)

    async def _told(self, act: BrowserAction, view: BrowserSnapshot) -> Result:
        """Return the view as fenced text, because the page, its title and its messages are untrusted."""
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


def _sends_text(arguments: Arguments) -> bool:
    """Return whether an action sends text from the model to the page, by typing or by pressing a character key."""
    is_character = len((arguments.key or "").rpartition("+")[2]) == 1
    return arguments.action == "type" or (arguments.action == "press" and is_character)


def _title(arguments: Arguments, url: str) -> str:
    ref = arguments.ref
    text, key = escape_invisible(arguments.text or ""), arguments.key
    match arguments.action:
        case "navigate":
            return f"Open {escape_invisible(url)} in the browser"
        case "click":
            return f"Click {ref} in the browser"
        case "hover":
            return f"Point at {ref} in the browser"
        case "type":
            return f"Type {text} into {ref} in the browser"
        case "press":
            return f"Press {key} in {ref} in the browser" if ref else f"Press {key} in the browser"
        case "select":
            return f"Select {text} in {ref} in the browser"
        case "scroll":
            return "Scroll in the browser"
        case "wait_for":
            return f"Wait for {text} in the browser"
        case "wait_gone":
            return f"Wait until {text} is gone in the browser"
        case "tabs" | "close_tab":
            return _tab_title(arguments)
        case "screenshot":
            return "Take a screenshot of the browser"
        case "back":
            return "Go back in the browser"
        case "close":
            return "Close the browser"
        case _:
            return "Look at the page in the browser"


def _tab_title(arguments: Arguments) -> str:
    if arguments.action == "close_tab":
        return f"Close tab {arguments.tab} in the browser"
    return f"Show tab {arguments.tab} in the browser" if arguments.tab else "List the tabs of the browser"


TOOL = BrowserTool(_NoBrowser(), _NoBrowser())
