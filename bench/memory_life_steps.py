"""The scripted model of `bench.memory_life`, which uses the real tools under the real policy."""

import re
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any, Final

import msgspec
from msgspec import Struct

from hermes_acp.agent.calls.call_permission import notes_as_said
from hermes_acp.core.errors import HermesError
from hermes_acp.core.event_types import EventContext, Mode, PlanEntry
from hermes_acp.core.events import (
    CallEnded,
    CallProposed,
    CallStarted,
    Event,
    SessionOpened,
    StepEnded,
    TextSaid,
    TurnEnded,
    TurnStarted,
    UserSaid,
)
from hermes_acp.core.flow_labels import NOTES, Exposure
from hermes_acp.core.messages import TextPart, ToolCall, UserMessage
from hermes_acp.core.proposals import (
    Calls,
    Confinement,
    Effect,
    Proposal,
    Question,
    Reaches,
    Reads,
    Reply,
    Runs,
)
from hermes_acp.memory.memory_snapshot import take_snapshot
from hermes_acp.memory.memory_store import STORES, MemoryStore
from hermes_acp.policy.information_flow import FlowState
from hermes_acp.policy.policy_engine import Policy
from hermes_acp.policy.verdicts import Verdict
from hermes_acp.recall.hybrid_search import HybridSearch
from hermes_acp.storage.record_lines import encode_line
from hermes_acp.storage.session_store import SessionStore
from hermes_acp.tools.builtin.memory import Arguments, Memory
from hermes_acp.tools.builtin.session_search import Arguments as SearchArguments
from hermes_acp.tools.builtin.session_search import SessionSearch
from hermes_acp.workspaces.backends.local import BACKEND

SESSION: Final = re.compile(r"^(ses_\w+) #", re.MULTILINE)
MODES: Final[tuple[Mode, ...]] = ("ask", "accept_edits", "auto", "bypass")


class Told(Struct, frozen=True):
    """The result of a note: whether it was stored and asked about, the advice to the model, and their length."""

    is_stored: bool
    is_asked: bool
    advice: str
    characters: int

    @property
    def doubted(self) -> bool:
        """Whether the model was warned that the note may contradict another one."""
        return bool(self.advice)


class Moment:
    """The context of a call, which provides only the session and the time."""

    trace_parent = ""
    confinement: Confinement = "usual"

    def __init__(self, session_id: str, at: float) -> None:
        self.session_id = session_id
        self.event_context = EventContext(session_id, "turn_1", at)
        self.prompts: tuple[str, ...] = ()

    def output(self, text: str) -> None:
        """Discard live output."""

    def terminal(self, terminal_id: str) -> None:
        """Discard a terminal."""

    def plan(self, entries: tuple[PlanEntry, ...]) -> None:
        """Discard a plan."""

    def allows(self, *effects: Effect) -> bool:
        """Return that nothing else is allowed."""
        return False

    async def inquire(self, question: Question) -> Reply | None:
        """Return no answer, because no user is present."""
        return None


class ScriptedModel:
    """A model that writes and removes notes, obeys planted texts and searches, in one session after another."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        place = folder / "project"
        place.mkdir(parents=True)
        (self.home / "sessions").mkdir(parents=True)
        self.cwd = str(place)
        self._workspace = BACKEND.open(self.cwd, (self.cwd,), {})
        self._memories = MemoryStore(self.home)
        self._store = SessionStore(self.home)
        self._search = SessionSearch(HybridSearch(self._store.words, lambda: None))
        self._policy = Policy(str(self.home))
        self._moment = Moment("", 0.0)
        self.snapshot = ""

    def begin(self, session_id: str, at: float) -> None:
        """Start a session, which shows the current notes."""
        self._moment = Moment(session_id, at)
        self.snapshot = take_snapshot(self._memories, self.cwd, now=at).text

    async def note(self, store: str, text: str, said: str) -> Told:
        """Note what the user has just said; the user approves that if asked."""
        self._moment.prompts = (said,)
        proposal = await self._proposal({"action": "add", "store": store, "text": text})
        is_asked = self._verdict(proposal, "auto", Exposure()).decision == "ask"
        made = proposal.approved if is_asked and proposal.approved else proposal
        result = await made.perform(self._moment)
        characters = len(result.text) + len(result.advice) + len(text)
        return Told(not result.is_error, is_asked, result.advice, characters)

    async def forget(self, store: str, text: str) -> None:
        """Remove a note."""
        await (await self._proposal({"action": "remove", "store": store, "old_text": text})).perform(
            self._moment
        )

    async def read_planted(self, text: str, prompt: str, dice: Random) -> bool:
        """Read a text that says what to remember and obey it; return whether it came from outside the workspace.

        The source, the store and the mode are chosen at random; in every third session, no user can be asked. `prompt`
        is the user's prompt in that session.
        """
        self._moment.prompts = (prompt,)
        mode, store = dice.choice(MODES), dice.choice(tuple(STORES))
        is_attended = dice.random() > 1 / 3
        source = self._source(dice)
        is_foreign = not any(isinstance(effect, Reads) and "/docs/" in effect.path for effect in source)
        private = [NOTES] if self.snapshot else []
        exposure = Exposure().including([*private, *self._policy.sources_of(source, self.cwd)])
        memory = Memory(self._memories, lambda: not is_attended)
        try:
            proposal = await self._proposal({"action": "add", "store": store, "text": text}, memory)
        except HermesError:
            return (
                is_foreign  # the store refused it, because of an injected instruction, a secret, or its size
            )
        verdict = self._verdict(proposal, mode, exposure)
        if verdict.decision == "allow":
            await proposal.perform(self._moment)
        elif verdict.decision == "ask" and not is_attended and proposal.unasked:
            await proposal.unasked.perform(self._moment)
        return is_foreign

    def _verdict(self, proposal: Proposal, mode: Mode, exposure: Exposure) -> Verdict:
        """Check a change to the notes against the policy, as in a turn."""
        said = [UserMessage((TextPart(prompt),)) for prompt in self._moment.prompts]
        effects = notes_as_said(proposal.effects, said)
        flow = FlowState(exposure)
        return self._policy.judge(effects, mode, (), tool="memory", place=self.cwd, flow=flow)

    def _source(self, dice: Random) -> Sequence[Effect]:
        """Return the effects of the call that reads a planted text."""
        sources: tuple[Effect, ...] = (
            Reaches("blog.example", "https://blog.example/post"),
            Calls("tracker", "read_issue", has_read_only_hint=True),
            Reads(f"{self.cwd}/node_modules/left/README.md"),
            Runs("curl -s https://gist.example/raw", self.cwd, (self.cwd,)),
            Reads(f"{self.cwd}/docs/notes.md"),
        )
        return (dice.choice(sources),)

    async def search(self, asked: SearchArguments) -> list[str]:
        """Search earlier sessions, and return their IDs in the order in which they are shown."""
        proposal = await self._search.propose(asked, self._workspace)
        result = await proposal.perform(self._moment)
        return list(dict.fromkeys(SESSION.findall(result.text)))

    def sources(self) -> dict[str, str]:
        """Return the source of each note that a new session would be shown."""
        origins = [self._memories.origins(name, self.cwd) for name in STORES]
        return {note: origin.source for each in origins for note, origin in each.items()}

    def notes(self) -> list[str]:
        """Return the notes that a new session would be shown."""
        return [entry for name in STORES for entry in self._memories.state(name, self.cwd).entries]

    async def aclose(self) -> None:
        """Close the stores."""
        await self._store.aclose()

    async def _proposal(self, arguments: dict[str, Any], memory: Memory | None = None) -> Proposal:
        tool = memory or Memory(self._memories)
        return await tool.propose(Arguments.model_validate(arguments), self._workspace)


def write_session(home: Path, cwd: str, session_id: str, at: float, exchange: tuple[str, str, str]) -> None:
    """Write the record of a session with one turn: the prompt, the output of a command if any, and the answer."""
    prompt, output, answer = exchange
    events: list[Event] = [SessionOpened(session_id, cwd, (cwd,), at), TurnStarted("turn_1")]
    events.append(UserSaid("msg_1", (TextPart(prompt),)))
    if output:
        call = ToolCall(f"call_{session_id}", "terminal", '{"command":"make"}')
        events += [
            StepEnded("msg_2", (call,)),
            CallProposed(call.id, call.name, "Run make", "execute", {"command": "make"}),
        ]
        events += [CallStarted(call.id), CallEnded(call.id, call.name, "completed", output)]
    events += [TextSaid("msg_3", answer), StepEnded("msg_3"), TurnEnded("turn_1", "done")]
    lines, chain = b"", 0
    for number, event in enumerate(events):
        line, chain = encode_line(msgspec.json.encode(event), chain, int(at * 1000) + number * 1000)
        lines += line
    path = home / "sessions" / f"{session_id}.jsonl"
    path.write_bytes(lines)
