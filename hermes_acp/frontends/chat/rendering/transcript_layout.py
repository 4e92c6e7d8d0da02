"""Lay out the entries of a transcript on the terminal, with blank lines between them.

Methods return the text to write. A layout that draws its entries itself returns empty strings.
"""

from collections.abc import Callable
from typing import Final, Literal

from rich.console import RenderableType
from rich.text import Text

from hermes_acp.frontends.chat import messages
from hermes_acp.frontends.chat.rendering.terminal_text import sanitize
from hermes_acp.frontends.chat.rendering.text_rendering import TextRenderer

MAX_PROMPT_LINES: Final = 12
MAX_PROMPT_CHARACTERS: Final = 2000
EntryKind = Literal["message", "call", "remark", "prompt"]


class TranscriptLayout:
    """Lays out the entries of one transcript, in the order in which its methods are called."""

    def __init__(self, renderer: TextRenderer) -> None:
        self._renderer = renderer
        self._last: EntryKind | None = None

    @property
    def is_plain(self) -> bool:
        """Whether the terminal shows only lines of text."""
        return self._renderer.style.is_plain

    def greeting(self, folder: str, profile: str = "") -> str:
        """Return the first line of the chat; it names the profile unless that is the default one."""
        title = (
            Text(f"{messages.PRODUCT} ", style="bold cyan")
            .append(folder)
            .append(f"  {messages.profile_in_use(profile)}" if profile else "", style="yellow")
            .append(f"  {messages.GREETING_HINT}", style="dim")
        )
        return self.entry("remark", title)

    def farewell(self, session_id: str) -> str:
        """Return the last line of the chat, which says how to resume the session."""
        return f"\n{self._renderer.render(Text(messages.how_to_resume(session_id), style='dim'))}"

    def prompt(self, text: str) -> str:
        """Return the user's prompt; a long one is cut."""
        lines = sanitize(text).strip("\n").split("\n")
        shown = "\n  ".join(lines[:MAX_PROMPT_LINES])
        said = Text("❯ ", style="bold cyan").append(shown[:MAX_PROMPT_CHARACTERS], style="bold")
        if len(shown) > MAX_PROMPT_CHARACTERS:
            said.append(f" {messages.more_characters(len(shown) - MAX_PROMPT_CHARACTERS)}", style="dim")
        if len(lines) > MAX_PROMPT_LINES:
            said.append(f"\n  {messages.more_lines(len(lines) - MAX_PROMPT_LINES)}", style="dim")
        return self.entry("prompt", said)

    def message(self, markdown: str) -> str:
        """Return a message in Markdown, from the agent or the chat itself."""
        return self.entry("message", self._renderer.markdown(markdown))

    def remark(self, text: str, style: str = "dim") -> str:
        """Return a remark that is not part of any message."""
        mark = Text("! " if style != "dim" else "· ", style=style)
        return self.entry("remark", mark.append(sanitize(text)))

    def drawing(self, *parts: RenderableType) -> str:
        """Return an entry that the caller has drawn."""
        return self.entry("remark", *parts)

    def continuation(self, *parts: RenderableType) -> str:
        """Return a continuation of the last entry, without a blank line above."""
        return self._renderer.render(*parts)

    def foldable(self, kind: EntryKind, summary: RenderableType, whole: Callable[[], RenderableType]) -> str:
        """Return an entry that shows its summary; a layout that can unfold entries shows `whole` on request."""
        return self.entry(kind, summary)

    def change_session(self, *, is_undone: bool = False) -> str:
        """Return the separator between sessions; `is_undone` removes the last one. Empty on a scrolling
        terminal.
        """
        return ""

    def choices(self, *parts: RenderableType) -> str:
        """Return the choices of the question above."""
        return self.continuation(*parts)

    def transient(self, *parts: RenderableType) -> str:
        """Return output that will be redrawn, without its last line ending."""
        return self._renderer.render(*parts).rstrip("\n")

    def markdown(self, markdown: str) -> RenderableType:
        """Return Markdown as a part of another entry."""
        return self._renderer.markdown(markdown)

    def entry(self, kind: EntryKind, *parts: RenderableType) -> str:
        """Return an entry, with a blank line above it unless it follows an entry of the same kind without a gap."""
        is_run = kind == self._last and (kind == "call" or (kind == "message" and self.is_plain))
        gap = "" if is_run or self._last is None else "\n"
        self._last = kind
        return gap + self._renderer.render(*parts)
