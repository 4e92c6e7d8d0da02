"""The pane that shows changes hunk by hunk: an edit that waits for approval, and edits made without asking."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from types import MappingProxyType
from typing import ClassVar, Final, Literal

from hermes_acp_client.errors import AgentError
from msgspec import Struct
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Static

from hermes_acp.core.hunks import Hunk
from hermes_acp.frontends.chat.agent.agent_link import AgentLink, AgentLost
from hermes_acp.frontends.chat.agent.edit_reviews import (
    Verdict,
    diff_of,
    hunk_of,
    open_edits,
    submit_verdict,
)
from hermes_acp.frontends.chat.full_screen import messages
from hermes_acp.frontends.chat.full_screen.entry_view import EntryView
from hermes_acp.frontends.chat.full_screen.pending_read import PendingRead
from hermes_acp.frontends.chat.full_screen.view_entries import ViewEntry
from hermes_acp.frontends.chat.questions.approval_prompt import ProposedHunks, edited, text_to_edit
from hermes_acp.frontends.chat.rendering.diff_rendering import headline, render_hunk
from hermes_acp.frontends.chat.rendering.text_rendering import TerminalStyle
from hermes_acp.frontends.chat.screens.external_editor import ExternalEditor
from hermes_acp.frontends.chat.screens.screen import Gesture
from hermes_protocol import own, v1

Mark = Literal["open", "accepted", "rejected"]
MARKS: Final[Mapping[Mark, tuple[str, str]]] = MappingProxyType(
    {"open": ("•", "yellow"), "accepted": ("✓", "green"), "rejected": ("✗", "red")}
)


class ShownHunk(Struct):
    """One hunk in the pane: of a proposal, or of an edit that was made, with its `file` and its number in that
    file.
    """

    diff: v1.Diff
    hunk: Hunk
    file: own.EditsListFile | None = None
    number: int = 0
    mark: Mark = "open"

    @property
    def key(self) -> str:
        """The key by which the cursor finds the hunk again when the list changes."""
        return f"{'made' if self.file else 'asked'} {self.diff.path} {self.number}"


class ChangesPane(Vertical):
    """Shows hunks. Verdicts on a proposal take effect when they are submitted, those on made edits at once."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y,space", "judge('accepted')", show=False),
        Binding("n", "judge('rejected')", show=False),
        Binding("a", "judge_file('accepted')", show=False),
        Binding("d", "judge_file('rejected')", show=False),
        Binding("e", "edit", show=False),
        Binding("s", "submit", show=False),
    ]

    def __init__(
        self, style: TerminalStyle, link: AgentLink, reads: PendingRead, cwd: str, *, widget_id: str
    ) -> None:
        super().__init__(id=widget_id)
        self._link = link
        self._reads = reads
        self._cwd = cwd
        self._head = Static("", classes="pane-head", markup=False)
        self.view = EntryView(style, widget_id="changes-view")
        self._asked: list[ShownHunk] = []
        self._made: list[ShownHunk] = []
        self._note = ""

    class EditWanted(Message):
        """Sent when the person wants to edit the hunk under the cursor."""

    def compose(self) -> ComposeResult:
        """Create the child widgets."""
        yield self._head
        yield self.view

    async def activate(self) -> None:
        """Show the current changes."""
        self._note = await self._load()
        self._draw()

    def focus_view(self) -> None:
        """Focus the list."""
        self.screen.set_focus(self.view)

    async def choose(
        self, hunks: ProposedHunks, reveal: Callable[[], Awaitable[None]]
    ) -> ProposedHunks | None:
        """Let the person choose hunks of a proposal; return None if they go back to the question."""
        self._asked = [ShownHunk(diff, hunk, number=at) for at, (diff, hunk) in enumerate(hunks)]
        try:
            await reveal()
            kept = await self._reads.wait("hunks")
            if kept is None or isinstance(kept, str | Gesture):
                return None
            return [(self._asked[at].diff, self._asked[at].hunk) for at in kept]
        finally:
            self._asked = []
            self._draw()

    async def action_judge(self, verdict: Verdict) -> None:
        """Accept or reject the hunk under the cursor."""
        shown = self._chosen()
        if shown is not None:
            await self._judge([shown], verdict)

    async def action_judge_file(self, verdict: Verdict) -> None:
        """Accept or reject every hunk of the file under the cursor."""
        shown = self._chosen()
        if shown is not None:
            same = [each for each in self._hunks if _is_same_file(each, shown)]
            await self._judge(same, verdict)

    def action_edit(self) -> None:
        """Request the text editor, if the hunk under the cursor belongs to a proposal."""
        if (shown := self._chosen()) and shown.file is None:
            self.post_message(self.EditWanted())

    async def edit_chosen(
        self, editor: ExternalEditor, released: Callable[[], AbstractAsyncContextManager[None]]
    ) -> None:
        """Let the person edit the new lines of the hunk under the cursor; the hunk then counts as accepted."""
        shown = self._chosen()
        if shown is None or shown.file is not None:
            return
        async with released():
            text = await editor.change(text_to_edit(shown.hunk), shown.diff.path)
        self._note = messages.EDITOR_FAILED if text is None else ""
        if text is not None:
            changed = edited(shown.hunk, text)
            shown.hunk, shown.mark = (changed, "accepted") if changed else (shown.hunk, "rejected")
        self._draw()

    def action_submit(self) -> None:
        """Submit the hunks of the proposal that were not rejected."""
        if self._asked:
            open_ones = [each for each in self._asked if each.mark == "open"]
            if open_ones:
                self._note = messages.hunks_without_verdict(len(open_ones))
                self._draw()
                return
            kept = tuple(each.number for each in self._asked if each.mark == "accepted")
            self._reads.settle("hunks", kept)

    @property
    def _hunks(self) -> list[ShownHunk]:
        return [*self._asked, *self._made]

    def _chosen(self) -> ShownHunk | None:
        key = self.view.chosen.key if self.view.chosen else ""
        return next((each for each in self._hunks if each.key == key), None)

    async def _judge(self, hunks: Sequence[ShownHunk], verdict: Verdict) -> None:
        file = hunks[0].file
        self._note = ""
        if file is None:
            for each in hunks:
                each.mark = verdict
        else:
            numbers = [each.number for each in hunks]
            try:
                session = await self._link.session()
                await submit_verdict(await self._link.agent(), session.id, file, numbers, verdict)
                self._note = messages.verdict_given(len(numbers), verdict)
            except (AgentError, AgentLost) as error:
                self._note = error.sentence if isinstance(error, AgentError) else messages.AGENT_LOST
            self._note = await self._load() or self._note
        self._draw()
        if file is None:
            self.view.action_move(1)

    async def _load(self) -> str:
        """List the edits made without asking; return an error message if that fails."""
        self._made = []
        if self._link.current is None:
            return messages.NO_SESSION
        if not self._link.supports_reviews:
            return messages.NO_REVIEWS
        try:
            files = await open_edits(await self._link.agent(), self._link.current.id)
        except AgentError as error:
            return error.sentence
        except AgentLost:
            return messages.AGENT_LOST
        self._made = [
            ShownHunk(diff_of(file), hunk_of(hunk), file, number)
            for file in files
            for number, hunk in enumerate(file.hunks)
        ]
        return ""

    def _draw(self) -> None:
        if not self.is_mounted:
            return
        keys = messages.CHANGES_ASKED_KEYS if self._asked else messages.CHANGES_MADE_KEYS
        head = Text(messages.CHANGES_TITLE, style="bold").append(f"  {keys}", style="dim")
        if self._note:
            head.append(f"\n{self._note}", style="yellow")
        self._head.update(head)
        entries: list[ViewEntry] = []
        for title, hunks in ((messages.ASKED_CHANGES, self._asked), (messages.MADE_CHANGES, self._made)):
            if hunks:
                entries.append(ViewEntry("heading", (Text(title, style="bold underline"),)))
            entries += [self._entry(each, hunks[at - 1] if at else None) for at, each in enumerate(hunks)]
        self.view.show(entries or [ViewEntry("remark", (Text(messages.NO_CHANGES, style="dim"),))])

    def _entry(self, shown: ShownHunk, before: ShownHunk | None) -> ViewEntry:
        sign, style = MARKS[shown.mark]
        mark = Text(f"{sign} ", style=style)
        if before is None or not _is_same_file(before, shown):
            mark.append_text(headline(shown.diff, self._cwd))
        else:
            mark.append("⋮", style="dim")
        return ViewEntry("hunk", (mark, render_hunk(shown.diff, shown.hunk)), key=shown.key)


def _is_same_file(one: ShownHunk, other: ShownHunk) -> bool:
    return one.diff.path == other.diff.path and (one.file is None) == (other.file is None)
