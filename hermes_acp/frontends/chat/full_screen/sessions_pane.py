"""The pane for sessions: list, search, open, start, copy and rename them."""

from collections.abc import Awaitable, Callable
from typing import ClassVar, Literal

from hermes_acp_client.agent import Agent
from hermes_acp_client.errors import AgentError
from msgspec import Struct
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input, Static

from hermes_acp.frontends.chat.agent.agent_link import AgentLink, AgentLost, SessionRequest
from hermes_acp.frontends.chat.full_screen import messages
from hermes_acp.frontends.chat.full_screen.entry_view import EntryView
from hermes_acp.frontends.chat.full_screen.view_entries import ViewEntry
from hermes_acp.frontends.chat.rendering.terminal_text import clip, sanitize_line
from hermes_acp.frontends.chat.rendering.text_rendering import TerminalStyle
from hermes_protocol import own, v1

MAX_SHOWN = 200
MAX_FOUND = 50
MAX_TITLE_LENGTH = 80

Open = Callable[[SessionRequest], Awaitable[None]]


class ListedSession(Struct, frozen=True):
    """One row: a stored session and, after a search, the passage that was found in it."""

    session_id: str
    title: str
    updated_at: str
    passage: str = ""


class SessionsPane(Vertical):
    """Lists the sessions of the folder; `open_session` opens one in the chat."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "edit('search')", show=False),
        Binding("r", "edit('rename')", show=False),
        Binding("n", "start_new", show=False),
        Binding("f", "copy_chosen", show=False),
    ]

    def __init__(
        self, style: TerminalStyle, link: AgentLink, cwd: str, open_session: Open, *, widget_id: str
    ) -> None:
        super().__init__(id=widget_id)
        self._link = link
        self._cwd = cwd
        self._open_session = open_session
        self._head = Static("", classes="pane-head", markup=False)
        self._field = Input(id="sessions-field", compact=True)
        self.view = EntryView(style, widget_id="sessions-view")
        self._listed: list[ListedSession] = []
        self._editing: Literal["", "search", "rename"] = ""
        self._note = ""

    def compose(self) -> ComposeResult:
        """Create the child widgets."""
        yield self._head
        yield self._field
        yield self.view
        self._field.display = False

    async def activate(self) -> None:
        """List the sessions of the folder."""
        self._note = ""
        await self._load("")

    def focus_view(self) -> None:
        """Focus the list."""
        self.screen.set_focus(self.view)

    def cancel_edit(self) -> bool:
        """Close the text field; return whether it was open."""
        was_open, self._editing = bool(self._editing), ""
        self._field.display = False
        if was_open:
            self.screen.set_focus(self.view)
        return was_open

    def action_edit(self, what: Literal["search", "rename"]) -> None:
        """Open the text field for a search or a new title."""
        chosen = self._chosen()
        if what == "rename" and chosen is None:
            return
        self._editing = what
        self._field.placeholder = messages.SEARCH_FIELD if what == "search" else messages.RENAME_FIELD
        self._field.value = chosen.title if what == "rename" and chosen else ""
        self._field.display = True
        self.screen.set_focus(self._field)

    async def action_start_new(self) -> None:
        """Start a new session."""
        await self._open_session(SessionRequest())

    async def action_copy_chosen(self) -> None:
        """Open a copy of the session under the cursor."""
        if (chosen := self._chosen()) is not None:
            await self._open_session(SessionRequest("fork", chosen.session_id))

    async def on_entry_view_chosen(self, event: EntryView.Chosen) -> None:
        """Open the session under the cursor."""
        event.stop()
        if (chosen := self._chosen()) is not None:
            await self._open_session(SessionRequest("stored", chosen.session_id))

    async def on_input_submitted(self, event: Input.Submitted) -> None:
        """Search for the entered words, or set the entered title."""
        event.stop()
        editing, text = self._editing, event.value.strip()
        chosen = self._chosen()
        self.cancel_edit()
        self._note = ""
        if editing == "search":
            await self._load(text)
        elif editing == "rename" and chosen and text:
            await self._try(lambda agent: _rename(agent, chosen.session_id, text))
            note, self._note = self._note, ""
            await self._load("")
            self._note = note or self._note
            self._draw()

    def _chosen(self) -> ListedSession | None:
        key = self.view.chosen.key if self.view.chosen else ""
        return next((each for each in self._listed if each.session_id == key), None)

    async def _load(self, query: str) -> None:
        found: list[ListedSession] = []

        async def load(agent: Agent) -> None:
            found.extend(await (_found(agent, query, self._cwd) if query else _stored(agent, self._cwd)))

        await self._try(load)
        self._listed = found
        self._draw()

    async def _try(self, act: Callable[[Agent], Awaitable[None]]) -> None:
        """Send a request to the agent; show a failure as a note."""
        if self._link.current is None:
            self._note = messages.NO_SESSION
            return
        try:
            await act(await self._link.agent())
        except AgentError as error:
            self._note = error.sentence
        except AgentLost:
            self._note = messages.AGENT_LOST

    def _draw(self) -> None:
        head = Text(messages.SESSIONS_TITLE, style="bold").append(f"  {messages.SESSIONS_KEYS}", style="dim")
        if self._note:
            head.append(f"\n{sanitize_line(self._note)}", style="yellow")
        self._head.update(head)
        now = self._link.current.id if self._link.current else ""
        entries = [_row(each, is_open=each.session_id == now) for each in self._listed]
        self.view.show(entries or [ViewEntry("remark", (Text(messages.NO_SESSIONS, style="dim"),))])


def _row(session: ListedSession, *, is_open: bool) -> ViewEntry:
    row = Text("● " if is_open else "  ", style="green")
    row.append(session.title, style="bold").append(f"  {session.updated_at}", style="dim")
    parts = [row] if not session.passage else [row, Text(f"    {session.passage}", style="dim")]
    return ViewEntry("row", tuple(parts), key=session.session_id)


async def _stored(agent: Agent, cwd: str) -> list[ListedSession]:
    listed = (await agent.list_sessions(cwd))[:MAX_SHOWN]
    return [
        ListedSession(each.session_id, _title(each.title or ""), _when(each.updated_at or ""))
        for each in listed
    ]


async def _found(agent: Agent, query: str, cwd: str) -> list[ListedSession]:
    """Return the sessions that contain the words, each once."""
    params = own.SessionsSearchParams(query=query, cwd=cwd, limit=MAX_FOUND)
    answer = await agent.call("_hermes/sessions/search", params, own.SessionsSearchResult)
    found: dict[str, ListedSession] = {}
    for each in answer.found:
        row = ListedSession(
            each.session_id, _title(each.title), _when(each.updated_at), sanitize_line(each.text)
        )
        found.setdefault(each.session_id, row)
    return list(found.values())


async def _rename(agent: Agent, session_id: str, title: str) -> None:
    params = v1.SetSessionTitleRequest(session_id=session_id, title=title)
    await agent.call("session/set_title", params, v1.SetSessionTitleResponse)


def _title(title: str) -> str:
    return clip(sanitize_line(title) or messages.NO_TITLE, MAX_TITLE_LENGTH)


def _when(updated_at: str) -> str:
    return sanitize_line(updated_at)[:16].replace("T", " ")
