"""Render a session's updates as a conversation."""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from rich.console import RenderableType
from rich.text import Text

from hermes_acp.frontends.chat import messages
from hermes_acp.frontends.chat.rendering.markdown_stream import LineStream, MarkdownStream
from hermes_acp.frontends.chat.rendering.terminal_text import clip, sanitize, sanitize_line
from hermes_acp.frontends.chat.rendering.tool_call_cards import SPINNER, SPINNER_FRAMES_PER_S, ToolCallCard
from hermes_acp.frontends.chat.rendering.transcript_layout import TranscriptLayout
from hermes_protocol import v1

SHOWN_THOUGHT_LINES: Final = 2
LIVE_PLAN_ENTRIES: Final = 8
PLAN_MARKS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {"completed": ("✔", "green"), "in_progress": ("▸", "cyan"), "pending": ("○", "dim")}
)
NOTICE_STYLES: Final[Mapping[str, str]] = MappingProxyType({"error": "red", "warning": "yellow"})


class SessionRenderer:
    """Renders one session. Methods return text that stays on the terminal; `live` returns the part that is redrawn."""

    def __init__(self, layout: TranscriptLayout, cwd: str, clock: Callable[[], float]) -> None:
        self._layout = layout
        self._cwd = cwd
        self._clock = clock
        self._words: MarkdownStream | LineStream = self._new_stream()
        self._thought = ""
        self._plan: list[v1.PlanEntry] = []
        self.cards: dict[str, ToolCallCard] = {}
        self.last_thought = ""
        self.last_answer = ""
        self._answer_id: object = None
        self.last_card: ToolCallCard | None = None
        self._unasked: set[str] = set()
        self._remarks: list[str] = []
        """Notices to show after the current paragraph."""

    def take(self, update: v1.SessionUpdate) -> str:
        """Apply an update; return the text that stays on the terminal, if any."""
        match update:
            case v1.AgentMessageChunk(content=content, message_id=message_id):
                self._keep_answer(content, message_id)
                return self._finish_thought() + self._add_words(content)
            case v1.AgentThoughtChunk(content=v1.TextContent(text=text)):
                done = "" if self._thought else self._finish_words()
                self._thought += sanitize(text)
                return done
            case v1.UserMessageChunk(content=content):
                return self.settle() + self._layout.prompt(_words_in(content))
            case v1.ToolCall():
                return self.settle() + self._card(update)
            case v1.SessionUpdateToolCallUpdate():
                return self._card(update)
            case v1.Plan(entries=entries):
                self._plan = entries
                return ""
            case v1.Notice(severity="info", title=title) if self._words.tail.strip():
                self._remarks.append(title)
                return ""
            case v1.Notice(severity=severity, title=title):
                return self.settle() + self._layout.remark(title, NOTICE_STYLES.get(severity, "dim"))
            case v1.CompactionUpdate(status=status, error=error):
                return self.settle() + self._compaction(status, error or "")
            case _:
                return ""

    def settle(self) -> str:
        """Finish and return the current text and thoughts, because something else follows."""
        return self._finish_thought() + self._finish_words()

    def end_turn(self) -> str:
        """Return the remaining text of a turn, including unfinished calls and the plan."""
        done = self.settle()
        for card in [card for card in self.cards.values() if not card.is_finished]:
            card.status = "failed"
            done += self._show(card)
        self.cards.clear()
        if self._plan:
            done += self._layout.drawing(Text("\n").join(_plan_lines(self._plan)))
            self._plan = []
        return done

    def unasked_remark(self, *, is_shown: bool) -> str:
        """Return a remark about files that were changed without asking since the last remark, or an empty string."""
        count = len(self._unasked)
        self._unasked.clear()
        return self._layout.remark(messages.changed_without_asking(count)) if count and is_shown else ""

    def working_line(self) -> Text:
        """Return the line shown while the agent works without sending anything."""
        mark = SPINNER[int(self._clock() * SPINNER_FRAMES_PER_S) % len(SPINNER)]
        return Text(f"{mark} ", style="cyan").append(messages.WORKING, style="dim")

    def live(self, rows: int, width: int) -> str:
        """Return the live part in at most `rows` lines; if it is too long, the end of the text is shown."""
        parts: list[RenderableType] = []
        if self._thought:
            last = self._thought.rstrip().rpartition("\n")[2]
            parts.append(Text(f"∴ {clip(last, width - 4)}", style="dim italic"))
        if self._words.tail.strip():
            parts.append(self._layout.markdown(self._words.tail))
        now = self._clock()
        parts += [card.live(now, width) for card in self.cards.values() if not card.is_finished]
        if self._plan:
            parts.append(Text("\n").join(_plan_lines(_current_entries(self._plan))))
        if not parts:
            return ""
        lines = self._layout.transient(*parts).split("\n")
        return "\n".join(lines[-max(1, rows) :])

    def _new_stream(self) -> MarkdownStream | LineStream:
        return LineStream() if self._layout.is_plain else MarkdownStream()

    def _add_words(self, content: v1.ContentBlock) -> str:
        return "".join(self._layout.message(block) for block in self._words.feed(_words_in(content)))

    def _keep_answer(self, content: v1.ContentBlock, message_id: object) -> None:
        if message_id != self._answer_id:
            self.last_answer, self._answer_id = "", message_id
        self.last_answer += _words_in(content)

    def _finish_words(self) -> str:
        done = "".join(self._layout.message(block) for block in self._words.finish())
        self._words = self._new_stream()
        remarks, self._remarks = self._remarks, []
        return done + "".join(self._layout.remark(remark) for remark in remarks)

    def _finish_thought(self) -> str:
        """Finish the current thought and return it, shortened to its first lines."""
        thought, self._thought = self._thought.strip(), ""
        if not thought:
            return ""
        self.last_thought = thought
        lines = [line for line in thought.split("\n") if line.strip()]
        shown = Text("∴ " + "\n  ".join(lines[:SHOWN_THOUGHT_LINES]), style="dim italic")
        if len(lines) > SHOWN_THOUGHT_LINES:
            shown.append(
                f"\n  {messages.more_lines_of_thought(len(lines) - SHOWN_THOUGHT_LINES)}", style="dim"
            )
        return self._layout.foldable("remark", shown, lambda: Text(f"∴ {thought}", style="dim italic"))

    def _card(self, update: v1.ToolCall | v1.SessionUpdateToolCallUpdate) -> str:
        now = self._clock()
        card = self.cards.setdefault(update.tool_call_id, ToolCallCard(update.tool_call_id, now))
        was_over, was_answered = card.is_finished, bool(card.answered_by)
        card.take(update, now)
        if card.answered_by and not was_answered:
            return self.settle() + self._layout.remark(messages.answered_elsewhere(card.answered_by))
        if not card.is_finished or was_over:
            return ""
        self.last_card = card
        if card.status == "completed" and not (card.was_reviewed or card.answered_by):
            self._unasked.update(diff.path for diff in card.diffs)
        return self._show(card)

    def _show(self, card: ToolCallCard) -> str:
        return self._layout.foldable("call", card.over(self._cwd), lambda: card.whole(self._cwd))

    def _compaction(self, status: str, error: str) -> str:
        match status:
            case "in_progress":
                return self._layout.remark(messages.COMPACTING)
            case "completed":
                return self._layout.remark(messages.COMPACTED)
            case "failed":
                return self._layout.remark(messages.compaction_failed(error), "yellow")
            case _:
                return ""


def _words_in(content: v1.ContentBlock) -> str:
    match content:
        case v1.TextContent(text=text):
            return text
        case v1.ResourceLink(uri=uri):
            return f" {sanitize_line(uri)} "
        case v1.ImageContent(mime_type=kind):
            return messages.attached_image(kind)
        case v1.AudioContent(mime_type=kind):
            return messages.attached_audio(kind)
        case v1.EmbeddedResource():
            return messages.ATTACHED_TEXT


def _plan_lines(entries: list[v1.PlanEntry]) -> Iterator[Text]:
    for entry in entries:
        mark, style = PLAN_MARKS.get(entry.status, ("○", "dim"))
        words = sanitize_line(entry.content)
        yield Text(f"  {mark} ", style=style).append(
            words, style="dim" if entry.status != "in_progress" else ""
        )


def _current_entries(entries: list[v1.PlanEntry]) -> list[v1.PlanEntry]:
    """Return the part of a long plan around the entry in progress."""
    at = next((i for i, entry in enumerate(entries) if entry.status == "in_progress"), 0)
    start = max(0, min(at - LIVE_PLAN_ENTRIES // 2, len(entries) - LIVE_PLAN_ENTRIES))
    return entries[start : start + LIVE_PLAN_ENTRIES]
