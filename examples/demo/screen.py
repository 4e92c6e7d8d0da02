"""Show in a terminal what an editor would show."""

import difflib
import re
from pathlib import Path
from typing import Final, TextIO, cast

from hermes_protocol import v1

PLAIN, BOLD, DIM = 0, 1, 2
RED, GREEN, YELLOW, BLUE, MAGENTA, CYAN = 31, 32, 33, 34, 35, 36
STATES: Final = {
    "pending": ("○", YELLOW),
    "in_progress": ("◐", BLUE),
    "completed": ("●", GREEN),
    "failed": ("✗", RED),
}
MAX_OUTPUT_LINES: Final = 14
FENCE: Final = re.compile(r"^`{3,}\w*$")


class Screen:
    """A terminal, or any text stream, with colours only if they are wanted."""

    def __init__(self, stream: TextIO, has_colours: bool, root: Path) -> None:
        self._stream = stream
        self._has_colours = has_colours
        self._root = root
        self._speaker = ""
        self.titles: dict[str, str] = {}
        self._kinds: dict[str, str] = {}

    def heading(self, text: str, note: str = "") -> None:
        """Start a part of the demo."""
        self.line()
        self.line(f"━━ {text} {'━' * max(0, 76 - len(text))}", BOLD)
        for text in note.splitlines():
            self.line(f"   {text}", YELLOW)

    def line(self, text: str = "", style: int = PLAIN) -> None:
        """Write one line, after ending the streamed text."""
        self._end_stream()
        self._stream.write(self._paint(text, style) + "\n")
        self._stream.flush()

    def say(self, speaker: str, text: str, style: int = PLAIN) -> None:
        """Stream some text of a speaker, naming the speaker once."""
        if self._speaker != speaker:
            self._end_stream()
            self._stream.write(self._paint(f"{speaker} ▸ ", CYAN))
            self._speaker = speaker
        self._stream.write(self._paint(text, style))
        self._stream.flush()

    def show(self, update: v1.SessionUpdate) -> None:
        """Show one update of a session; updates that editors do not show in the conversation are omitted."""
        match update:
            case v1.UserMessageChunk(content=v1.TextContent(text=text)):
                self.say("you", text)
            case v1.AgentMessageChunk(content=v1.TextContent(text=text)):
                self.say("agent", text)
            case v1.AgentThoughtChunk(content=v1.TextContent(text=text)):
                self.say("agent thinks", text, DIM)
            case v1.Plan():
                self._show_plan(update)
            case v1.ToolCall():
                self.titles[update.tool_call_id] = update.title
                self._kinds[update.tool_call_id] = str(update.kind)
                self._show_state(update.tool_call_id, str(update.status))
                self.show_diffs(update.content)
            case v1.SessionUpdateToolCallUpdate():
                self._show_card_change(update)
            case _:
                pass

    def show_diffs(self, content: object) -> None:
        """Show the diffs in a tool call's contents, in colour, in the format of `diff -u`."""
        for part in _parts(content):
            if isinstance(part, v1.Diff):
                old = part.old_text if isinstance(part.old_text, str) else ""
                name = self._name_of(part.path)
                for text in difflib.unified_diff(
                    old.splitlines(), part.new_text.splitlines(), f"a/{name}", f"b/{name}", lineterm="", n=2
                ):
                    self.line(f"    {text}", _diff_style(text))

    def question(self, request: v1.RequestPermissionRequest, answer: str, why: str) -> None:
        """Show an approval question with its options, the demo's answer and the reason for it."""
        self.line(f"  ? {request.tool_call.title or request.tool_call.tool_call_id}", YELLOW)
        self.line("    " + " · ".join(option.name for option in request.options), DIM)
        self.line(f"  → {answer}  ({why})", MAGENTA)

    def _show_plan(self, plan: v1.Plan) -> None:
        self.line("  plan", BOLD)
        for entry in plan.entries:
            mark, style = STATES[entry.status]
            self.line(f"    {mark} {entry.content}", DIM if entry.status == "pending" else style)

    def _show_card_change(self, update: v1.SessionUpdateToolCallUpdate) -> None:
        call_id = update.tool_call_id
        if isinstance(update.status, str) and update.status != "pending":
            if update.status in ("completed", "failed") and self._kinds.get(call_id) == "execute":
                self._show_output(update.content)
            self._show_state(call_id, update.status)

    def _show_state(self, call_id: str, status: str) -> None:
        mark, style = STATES.get(status, ("·", PLAIN))
        title = self.titles.get(call_id, call_id)
        self.line(f"  {mark} {title}  [{status.replace('_', ' ')}]", style)

    def _show_output(self, content: object) -> None:
        lines: list[str] = []
        for part in _parts(content):
            if isinstance(part, v1.Content) and isinstance(part.content, v1.TextContent):
                lines += [text for text in part.content.text.splitlines() if not FENCE.match(text)]
        for text in lines[-MAX_OUTPUT_LINES:]:
            self.line(f"    │ {text}", DIM)

    def _name_of(self, path: str) -> str:
        place = Path(path)
        return place.relative_to(self._root).as_posix() if place.is_relative_to(self._root) else path

    def _end_stream(self) -> None:
        if self._speaker:
            self._stream.write("\n")
            self._speaker = ""

    def _paint(self, text: str, style: int) -> str:
        return f"\x1b[{style}m{text}\x1b[0m" if self._has_colours and style and text else text


def _parts(content: object) -> list[object]:
    return list(cast("list[object]", content)) if isinstance(content, list) else []


def _diff_style(text: str) -> int:
    if text.startswith(("+++", "---")):
        return BOLD
    return {"+": GREEN, "-": RED, "@": CYAN}.get(text[:1], PLAIN)
