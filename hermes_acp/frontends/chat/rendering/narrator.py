"""A session's updates, told in the order of a conversation.

Knows: what becomes a line that stays, and what is still moving.
Does not know: terminals, the agent, who judges an edit.
"""

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


class Narrator:
    """Tells one session. What a method gives is written above the prompt for good; `live` is drawn over and over."""

    def __init__(self, layout: TranscriptLayout, cwd: str, clock: Callable[[], float]) -> None:
        self._layout = layout
        self._cwd = cwd
        self._clock = clock
        self._words: MarkdownStream | LineStream = self._new_flow()
        self._thought = ""
        self._plan: list[v1.PlanEntry] = []
        self.cards: dict[str, ToolCallCard] = {}
        self.last_thought = ""
        self.last_card: ToolCallCard | None = None
        self._unasked: set[str] = set()
        self._remarks: list[str] = []
        """What can wait for the end of a paragraph."""

    def take(self, update: v1.SessionUpdate) -> str:
        """Take one update; give what is to stay, nothing for what moves or is no part of the conversation."""
        match update:
            case v1.AgentMessageChunk(content=content):
                return self._end_thought() + self._say(content)
            case v1.AgentThoughtChunk(content=v1.TextContent(text=text)):
                done = "" if self._thought else self._end_words()
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
        """Return what was said and thought so far, as it is: something else follows."""
        return self._end_thought() + self._end_words()

    def end_turn(self) -> str:
        """Return all that is left of a turn, calls that nobody closed and the plan included."""
        done = self.settle()
        for card in [card for card in self.cards.values() if not card.is_over]:
            card.status = "failed"
            done += self._layout.entry("call", card.over(self._cwd))
        self.cards.clear()
        if self._plan:
            done += self._layout.drawing(Text("\n").join(_plan_lines(self._plan)))
            self._plan = []
        return done

    def take_unasked(self) -> int:
        """Return how many files were changed without a question since it was last called."""
        count = len(self._unasked)
        self._unasked.clear()
        return count

    def pulse(self) -> Text:
        """Draw that somebody is at work of whom nothing is heard."""
        mark = SPINNER[int(self._clock() * SPINNER_FRAMES_PER_S) % len(SPINNER)]
        return Text(f"{mark} ", style="cyan").append(messages.WORKING, style="dim")

    def live(self, rows: int, width: int) -> str:
        """Draw what still moves, in so many rows at most: the end of what is being said counts."""
        parts: list[RenderableType] = []
        if self._thought:
            last = self._thought.rstrip().rpartition("\n")[2]
            parts.append(Text(f"∴ {clip(last, width - 4)}", style="dim italic"))
        if self._words.tail.strip():
            parts.append(self._layout.prose(self._words.tail))
        now = self._clock()
        parts += [card.live(now, width) for card in self.cards.values() if not card.is_over]
        if self._plan:
            parts.append(Text("\n").join(_plan_lines(_around_now(self._plan))))
        if not parts:
            return ""
        lines = self._layout.transient(*parts).split("\n")
        return "\n".join(lines[-max(1, rows) :])

    def _new_flow(self) -> MarkdownStream | LineStream:
        return LineStream() if self._layout.is_plain else MarkdownStream()

    def _say(self, content: v1.ContentBlock) -> str:
        return "".join(self._layout.message(block) for block in self._words.feed(_words_in(content)))

    def _end_words(self) -> str:
        done = "".join(self._layout.message(block) for block in self._words.finish())
        self._words = self._new_flow()
        remarks, self._remarks = self._remarks, []
        return done + "".join(self._layout.remark(remark) for remark in remarks)

    def _end_thought(self) -> str:
        """Fold a thought that is over: its beginning, and how much more there is."""
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
        return self._layout.drawing(shown)

    def _card(self, update: v1.ToolCall | v1.SessionUpdateToolCallUpdate) -> str:
        now = self._clock()
        card = self.cards.setdefault(update.tool_call_id, ToolCallCard(update.tool_call_id, now))
        was_over = card.is_over
        card.take(update, now)
        if not card.is_over or was_over:
            return ""
        self.last_card = card
        if card.status == "completed" and not card.was_judged:
            self._unasked.update(diff.path for diff in card.diffs)
        return self._layout.entry("call", card.over(self._cwd))

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


def _around_now(entries: list[v1.PlanEntry]) -> list[v1.PlanEntry]:
    """Return the part of a long plan that is being worked on."""
    at = next((i for i, entry in enumerate(entries) if entry.status == "in_progress"), 0)
    start = max(0, min(at - LIVE_PLAN_ENTRIES // 2, len(entries) - LIVE_PLAN_ENTRIES))
    return entries[start : start + LIVE_PLAN_ENTRIES]
