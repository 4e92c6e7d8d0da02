"""Render a tool call in a few lines: its title, its status and the end of its output."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, cast

from rich.text import Text

from hermes_acp.frontends.chat import messages
from hermes_acp.frontends.chat.rendering.diff_rendering import headline, render_diff
from hermes_acp.frontends.chat.rendering.terminal_text import clip, output_text, sanitize_line
from hermes_protocol import v1

TAIL_LINES: Final = 6
WHOLE_DIFF_LINES: Final = 100_000
MAX_TITLE_LENGTH: Final = 78
HIDDEN_OUTPUT_KINDS: Final = frozenset({"read", "search", "fetch", "think"})
MARKS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {"completed": ("✓", "green"), "failed": ("✗", "red"), "pending": ("○", "dim"), "rejected": ("⊘", "dim")}
)
SPINNER: Final = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
SPINNER_FRAMES_PER_S: Final = 8


class ToolCallCard:
    """The card of one tool call."""

    def __init__(self, call_id: str, now: float) -> None:
        self.id = call_id
        self.title = call_id
        self.kind = "other"
        self.status = "pending"
        self.text = ""
        self.diffs: list[v1.Diff] = []
        self.was_reviewed = False
        self.answered_by = ""
        """The name of another client in which the question about this call was answered."""
        self._was_rejected = False
        self._begun_at = now
        self._has_started = False
        self._took_s = 0.0

    @property
    def is_finished(self) -> bool:
        """Whether the call has completed or failed."""
        return self.status in ("completed", "failed")

    def take(self, update: v1.ToolCall | v1.ToolCallUpdate, now: float) -> None:
        """Apply an update; fields that it omits stay unchanged."""
        self.title = sanitize_line(update.title) if update.title else self.title
        self.kind = update.kind or self.kind
        if update.status == "in_progress" and not self._has_started:
            # The time before this was spent waiting for a person's answer.
            self._has_started, self._begun_at = True, now
        self.status = update.status or self.status
        self._was_rejected = self._was_rejected or _is_rejected(update.meta)
        self.answered_by = self.answered_by or _answered_by(update.meta)
        if isinstance(update.content, list):
            self._take_content(update.content)
        self._took_s = now - self._begun_at if self._has_started else 0.0

    def live(self, now: float, width: int) -> Text:
        """Render a running call."""
        if self.status == "pending":
            mark, style = MARKS["pending"]
        else:
            mark, style = SPINNER[int(now * SPINNER_FRAMES_PER_S) % len(SPINNER)], "cyan"
        took = f" · {now - self._begun_at:.0f} s" if self._has_started and now - self._begun_at >= 1 else ""
        line = Text(f"{mark} ", style=style).append(clip(self.title, max(10, width - 24)), style="bold")
        line.append(f"  {self.kind}{took}", style="dim")
        last = self.text.rstrip().rpartition("\n")[2]
        if last and self.kind not in HIDDEN_OUTPUT_KINDS:
            line.append(f"\n  │ {clip(last, width - 5)}", style="dim")
        return line

    def over(self, cwd: str) -> Text:
        """Render a finished call; a diff that was reviewed is not shown again."""
        mark, style = self._mark()
        took = f" · {self._took_s:.1f} s" if self._took_s >= 1 else ""
        line = Text(f"{mark} ", style=style).append(clip(self.title, MAX_TITLE_LENGTH), style="bold")
        line.append(f"  {self.kind}{took}", style="dim")
        for diff in self.diffs if self.status == "completed" else ():
            shown = headline(diff, cwd) if self.was_reviewed else render_diff(diff, cwd)
            line.append("\n  ").append_text(_indented(shown))
        return line.append_text(self._tail())

    def whole(self, cwd: str) -> Text:
        """Render a finished call with its full output and its diffs."""
        mark, style = self._mark()
        line = Text(f"{mark} ", style=style).append(self.title, style="bold").append(f"  {self.kind}", "dim")
        for diff in self.diffs:
            line.append("\n  ").append_text(_indented(render_diff(diff, cwd, WHOLE_DIFF_LINES)))
        for row in self.text.rstrip().split("\n") if self.text.strip() else ():
            line.append(f"\n  │ {row.rstrip()}", style="dim")
        return line

    def _mark(self) -> tuple[str, str]:
        """Return the symbol and style of the call's status; a rejected call does not count as failed."""
        return MARKS.get("rejected" if self._was_rejected else self.status, ("•", "dim"))

    def _take_content(self, content: list[v1.ToolCallContent]) -> None:
        texts: list[str] = []
        self.diffs = [part for part in content if isinstance(part, v1.Diff)]
        for part in content:
            match part:
                case v1.Content(content=v1.TextContent(text=text)):
                    texts.append(output_text(text))
                case v1.Content(content=v1.ResourceLink(uri=uri)):
                    texts.append(sanitize_line(uri))
                case v1.Content(content=v1.ImageContent(mime_type=kind)):
                    texts.append(messages.attached_image(sanitize_line(kind)))
                case _:
                    pass
        self.text = "\n".join(texts)

    def _tail(self) -> Text:
        """Return the end of the output; empty for a completed call that only reads."""
        lines = [line.rstrip() for line in self.text.rstrip().split("\n") if line.strip()]
        is_hidden = self.status == "completed" and (self.kind in HIDDEN_OUTPUT_KINDS or bool(self.diffs))
        if not lines or self._was_rejected or is_hidden:
            return Text()
        tail = Text()
        if len(lines) > TAIL_LINES:
            tail.append(f"\n  │ {messages.more_lines_above(len(lines) - TAIL_LINES)}", style="dim")
        for line in lines[-TAIL_LINES:]:
            tail.append(f"\n  │ {line}", style="dim")
        return tail


def _answered_by(meta: object) -> str:
    match meta:
        case {"hermes": {"answeredBy": str(name)}}:
            return sanitize_line(name)
        case _:
            return ""


def _is_rejected(meta: object) -> bool:
    told = cast("dict[str, object]", meta).get("hermes") if isinstance(meta, dict) else None
    return isinstance(told, dict) and "rejected" in told


def _indented(text: Text) -> Text:
    return Text("\n  ").join(text.split("\n"))
