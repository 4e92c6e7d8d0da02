"""Check the state after an agent was killed against what its client was shown and what is on disk."""

import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hermes_acp.core.events import CallEnded, StepEnded
from hermes_acp.core.messages import AssistantMessage, ToolMessage
from hermes_acp.core.record.interrupted_calls import IN_DOUBT, NOT_STARTED, REPEATABLE
from hermes_acp.core.record.session_record import Record
from hermes_acp.storage.transcript import Transcript

TURNS = 3
WORDS = {"user_message_chunk": "user", "agent_message_chunk": "agent", "agent_thought_chunk": "thought"}
Entry = tuple[str, str]


class Faults(Exception):
    """The faults found after a kill, one sentence per fault."""


class Screen:
    """The session as displayed by a client: its messages, tool call cards and plans, in order."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.cards: dict[str, dict[str, Any]] = {}

    def say(self, prompt: str) -> None:
        """Show the user's prompt, which the agent does not echo during the turn."""
        self.entries.append(("user", prompt))

    def take(self, update: Mapping[str, Any]) -> None:
        """Display one update."""
        kind = update["sessionUpdate"]
        if kind in WORDS:
            self._add_words(WORDS[kind], update["content"]["text"])
        elif kind in ("tool_call", "tool_call_update"):
            self._add_card(update)
        elif kind == "plan":
            self.entries.append(("plan", str(update["entries"])))

    def _add_words(self, whose: str, text: str) -> None:
        if whose != "user" and self.entries and self.entries[-1][0] == whose:
            text = self.entries.pop()[1] + text
        self.entries.append((whose, text))

    def _add_card(self, update: Mapping[str, Any]) -> None:
        call_id = update["toolCallId"]
        if call_id not in self.cards:
            self.cards[call_id] = {}
            self.entries.append(("card", call_id))
        present = {name: value for name, value in update.items() if value is not None}
        self.cards[call_id] |= present

    def text(self) -> str:
        """Return the agent's whole text."""
        return "".join(text for whose, text in self.entries if whose == "agent")

    def missing_in(self, later: "Screen") -> list[str]:
        """Return the differences that show something on this screen to be missing or changed on a later one."""
        entries = self.entries
        if entries and entries[-1][0] == "user":
            entries = entries[:-1]  # the agent was killed before it received this prompt
        faults: list[str] = []
        for place, (kind, text) in enumerate(entries):
            is_last = place == len(entries) - 1
            found = later.entries[place] if place < len(later.entries) else ("nothing", "")
            if found[0] != kind or not (found[1].startswith(text) if is_last else found[1] == text):
                faults.append(f"entry {place} was {(kind, text[-80:])} and is {(found[0], found[1][-80:])}")
                break
        for call_id, card in self.cards.items():
            faults += _card_faults(call_id, card, later.cards.get(call_id, {}))
        return faults


def _card_faults(call_id: str, card: Mapping[str, Any], later: Mapping[str, Any]) -> list[str]:
    names = ["kind", "rawInput", "locations"]
    is_over = card.get("status") in ("completed", "failed")
    if is_over:
        names += ["title", "status", "content"]
    elif later and later.get("status") not in ("completed", "failed"):
        return [f"card {call_id} is still {later.get('status')}"]
    return [
        f"the {name} of card {call_id} was {str(card[name])[:200]} and is {str(later.get(name))[:200]}"
        for name in names
        if name in card and card[name] != later.get(name)
    ]


class Work:
    """The effects of the scripted turns on a workspace, and the files allowed by the outcomes of their calls."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        (folder / "whole.txt").write_text(content_of(0))
        (folder / "edited.txt").write_text("".join(f"turn {turn}: no\n" for turn in range(1, TURNS + 1)))
        (folder / "log").write_text("")

    def faults(self, cards: Mapping[str, Mapping[str, Any]]) -> list[str]:
        """Compare the files with the outcomes on the cards, all of which must be closed."""
        whole: set[str] = {content_of(0)}
        edits = {f"turn {turn}: no": {"no"} for turn in range(1, TURNS + 1)}
        lines: dict[str, set[int]] = {}
        for card in cards.values():
            given: Mapping[str, str] = card.get("rawInput", {})
            fate = fate_of(card)
            if given.get("path") == "whole.txt" and fate != "none":
                whole = {given["content"]} | (whole if fate == "doubt" else set())
            elif "new_text" in given:
                edits[given["old_text"]] = {"done": {"yes"}, "doubt": {"no", "yes"}, "none": {"no"}}[fate]
            elif "command" in given:
                lines[given["command"].split()[-1]] = {"done": {1}, "doubt": {0, 1}, "none": {0}}[fate]
        return [*self._whole_faults(whole), *self._edit_faults(edits), *self._log_faults(lines)]

    def _whole_faults(self, allowed: set[str]) -> list[str]:
        faults: list[str] = []
        text = (self._folder / "whole.txt").read_text()
        if text not in allowed:
            begin = [each[:9] for each in allowed]
            faults.append(f"whole.txt has {len(text)} characters of {text[:20]!r}; allowed: {begin}")
        names = {each.name for each in self._folder.iterdir()}
        if litter := names - {"whole.txt", "edited.txt", "log", "resumed.txt"}:
            faults.append(f"left behind: {sorted(litter)}")
        return faults

    def _edit_faults(self, edits: Mapping[str, set[str]]) -> list[str]:
        lines = (self._folder / "edited.txt").read_text().splitlines()
        return [
            f"edited.txt says {line!r}; allowed: {allowed}"
            for line, allowed in zip(lines, edits.values(), strict=True)
            if line.rpartition(" ")[2] not in allowed
        ]

    def _log_faults(self, lines: Mapping[str, set[int]]) -> list[str]:
        counts = Counter((self._folder / "log").read_text().split())
        faults = [f"{line} was logged {count} times" for line, count in counts.items() if count > 1]
        faults += [f"{line} was logged, but no card shows it" for line in counts if line not in lines]
        return faults + [
            f"{line} was logged {counts[line]} times; its card allows {allowed}"
            for line, allowed in lines.items()
            if counts[line] not in allowed
        ]


def content_of(turn: int) -> str:
    """Return what a turn writes into whole.txt; it is so long that a faulty writer would write it in pieces."""
    return f"version {turn}\n" * 2000


def fate_of(card: Mapping[str, Any]) -> str:
    """Classify the outcome of a call: `done`, `none` (no effect) or `doubt`."""
    if card["status"] == "completed":
        return "done"
    text = str(card.get("content"))
    if NOT_STARTED in text:
        return "none"
    return "doubt" if REPEATABLE in text or IN_DOUBT in text else "none"


def record_faults(path: Path) -> list[str]:
    """Check that a closed record is complete, that every turn and call ended once, and that its history is valid."""
    events = Transcript.read_events(path)
    record = Record()
    for event in events:
        record.apply(event)
    faults = [f"left open: {end}" for end in record.closing_events()]
    ends = Counter(event.call_id for event in events if isinstance(event, CallEnded))
    calls = [call.id for event in events if isinstance(event, StepEnded) for call in event.tool_calls]
    if ends != Counter(calls):
        faults.append(f"calls {calls} have outcomes {dict(ends)}")
    expected: list[str] = []
    for message in record.messages:
        if isinstance(message, ToolMessage):
            if not expected or expected.pop(0) != message.call_id:
                faults.append(f"the outcome of {message.call_id} is out of place")
        elif expected:
            faults.append(f"{expected} have no outcome in the history")
        if isinstance(message, AssistantMessage):
            expected = [call.id for call in message.tool_calls]
    torn = path.with_suffix(".torn")
    return faults + ([f"{torn.name} exists"] if torn.exists() and not torn.stat().st_size else [])


def can_go_on(path: Path) -> bool:
    """Return whether the last turn of a record can be resumed once everything open in it is closed."""
    record = Record()
    for event in Transcript.read_events(path):
        record.apply(event)
    for end in record.closing_events():
        record.apply(end)
    return record.can_resume


def database_faults(home: Path) -> list[str]:
    """Check every database of a home folder, and that none was set aside as damaged."""
    faults = [f"{path.name} was set aside" for path in home.glob("*.damaged-*")]
    for path in home.glob("*.db"):
        with sqlite3.connect(path) as connection:
            (answer,) = connection.execute("PRAGMA integrity_check").fetchone()
        connection.close()
        if answer != "ok":
            faults.append(f"{path.name}: {answer}")
    return faults


def raise_any(faults: Sequence[str]) -> None:
    """Raise `Faults` if the list is not empty."""
    if faults:
        raise Faults("; ".join(faults))
