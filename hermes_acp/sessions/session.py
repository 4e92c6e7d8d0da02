"""One live session.

Knows: that turns run one at a time and in order, that every turn ends by name, how to stop it.
Does not know: who asked, who watches, what a turn does.
"""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

import anyio
from msgspec import Struct, structs

from hermes_acp.agent.inbox import Inbox, Letter
from hermes_acp.agent.ledger import Ledger
from hermes_acp.agent.loop import run_turn
from hermes_acp.agent.turn import Ending, Kit, Limits, Spent, Turn
from hermes_acp.core.errors import BadRequest, HermesError, ModelTrouble, StorageTrouble
from hermes_acp.core.events import (
    CommandAnswered,
    InstructionsGiven,
    Mode,
    ModeChanged,
    Noticed,
    Options,
    OptionsChanged,
    TitleChanged,
    TurnEnded,
    TurnStarted,
    UserSaid,
)
from hermes_acp.core.messages import Part, TextPart
from hermes_acp.core.ports import Clock, Gate, Ids, ToolSource, Workspace
from hermes_acp.core.record import Record
from hermes_acp.sessions.commands import Commands
from hermes_acp.sessions.tool_sources import ToolSources
from hermes_acp.storage.transcript import Transcript

TITLE_CHARACTERS: Final = 60
QUEUED: Final = "Waiting for the running turn; this message comes next."
BROKEN: Final = "The turn ended by a fault of the agent's own; what happened until then is kept."


class Means(Struct, frozen=True):
    """What every session of this process uses alike.

    `kit` may take a while the first time, and may raise.
    """

    kit: Callable[[], Awaitable[Kit]]
    default_mode: Callable[[], Mode]
    models: Callable[[], tuple[str, ...]]
    shared_tools: Callable[[], ToolSource | None]
    commands: Commands
    limits: Callable[[], Limits]
    clock: Clock
    ids: Ids


class Session:
    """A conversation that is open in this process."""

    def __init__(self, transcript: Transcript, record: Record, workspace: Workspace, means: Means) -> None:
        self.record = record
        self.ledger = Ledger(transcript, record)
        self.workspace = workspace
        self.sources = ToolSources(means.shared_tools)
        self._transcript = transcript
        self._means = means
        self._turns = anyio.Lock()
        self._scopes: set[anyio.CancelScope] = set()
        self._inbox: Inbox | None = None
        self._last_end: TurnEnded | None = None

    @property
    def id(self) -> str:
        """The session's id."""
        return self.record.session_id

    @property
    def transcript_path(self) -> Path:
        """Where the record lies."""
        return self._transcript.path

    @property
    def models(self) -> tuple[str, ...]:
        """The models that can be chosen, the configured one first; empty until it is known."""
        return self._means.models()

    @property
    def commands(self) -> Commands:
        """The slash commands offered here."""
        return self._means.commands

    async def prompt(self, parts: tuple[Part, ...], gate: Gate) -> TurnEnded:
        """Run one turn, after those already asked for, or steer the running one, as the session's options say.

        Always gives how the turn ended, also when it was cancelled. Raises StorageTrouble when the end cannot be
        recorded, and what stands in the way of any turn (no model, say).
        """
        turn_id = self._means.ids.fresh("turn")
        with anyio.CancelScope() as scope:
            self._scopes.add(scope)
            try:
                if end := await self._steer(parts):
                    return end
                if self._turns.locked():
                    self.ledger.emit(Noticed("info", QUEUED))
                async with self._turns:
                    return await self._turn(turn_id, parts, gate)
            finally:
                self._scopes.discard(scope)
        return TurnEnded(turn_id, "cancelled")

    async def _steer(self, parts: tuple[Part, ...]) -> TurnEnded | None:
        """Hand a message to the running turn and wait for its end; None when no turn has read it."""
        inbox = self._inbox
        if inbox is None or self.record.options.during_turn != "steer":
            return None
        letter = Letter(parts)
        inbox.put(letter)
        try:
            await letter.settled.wait()
        finally:
            inbox.take_back(letter)
        return self._last_end if letter.was_read else None

    async def _turn(self, turn_id: str, parts: tuple[Part, ...], gate: Gate) -> TurnEnded:
        text = "".join(part.text for part in parts if isinstance(part, TextPart))
        if command := self._means.commands.find(text):
            answer = await command.answer(self.record)
            self.ledger.emit(CommandAnswered(self._means.ids.fresh("msg"), text, answer))
            return TurnEnded(turn_id, "done")
        kit = await self._means.kit()
        self.ledger.emit(TurnStarted(turn_id))
        self.ledger.emit(UserSaid(self._means.ids.fresh("msg"), parts))
        if not self.record.title:
            self.ledger.emit(TitleChanged(title_of(text)))
        try:
            ending = await self._run(kit, turn_id, gate)
        except BaseException as error:
            stopped = isinstance(error, anyio.get_cancelled_exc_class())
            await self._end(turn_id, Ending("cancelled") if stopped else Ending("gave_up", BROKEN, "bug"))
            raise
        return await self._end(turn_id, ending)

    async def _run(self, kit: Kit, turn_id: str, gate: Gate) -> Ending:
        limits = self._means.limits()
        self._inbox = Inbox()
        toolbox = await self.sources.equip(kit.toolbox, self.ledger)
        turn = Turn(
            id=turn_id,
            kit=structs.replace(kit, toolbox=toolbox).with_model(self.record.options.model),
            ledger=self.ledger,
            workspace=self.workspace,
            gate=gate,
            inbox=self._inbox,
            limits=limits,
            spent=Spent(self._means.clock.monotonic()),
            clock=self._means.clock,
            ids=self._means.ids,
        )
        await self.ledger.settle()
        try:
            with anyio.fail_after(limits.timeout_s):
                return await run_turn(turn)
        except TimeoutError:
            return Ending(
                "out_of_time", f"Stopped after {limits.timeout_s:g} s, the limit of a turn.", "out_of_time"
            )
        except StorageTrouble as trouble:
            return Ending("storage_trouble", trouble.sentence(), trouble.code)
        except ModelTrouble as trouble:
            return Ending("model_trouble", trouble.sentence(), trouble.code)
        except HermesError as trouble:
            return Ending("gave_up", trouble.sentence(), trouble.code)

    async def _end(self, turn_id: str, ending: Ending) -> TurnEnded:
        end = self._last_end = TurnEnded(turn_id, ending.reason, ending.sentence, ending.error_code)
        if self._inbox is not None:
            self._inbox.settle()
        self._inbox = None
        with anyio.CancelScope(shield=True):
            if ending.reason == "storage_trouble":
                self.ledger.show(end)
                return end
            if ending.reason in ("out_of_steps", "out_of_money", "out_of_time"):
                self.ledger.emit(Noticed("warning", ending.sentence))
            self.ledger.emit(end)
            await self.ledger.settle()
        return end

    def cancel(self) -> None:
        """Stop the running turn and those waiting behind it; returns at once."""
        for scope in self._scopes:
            scope.cancel()

    def begin_in_default_mode(self) -> None:
        """Take the mode that new sessions begin in."""
        self.set_mode(self._means.default_mode())

    def set_mode(self, mode: Mode) -> None:
        """Change what needs asking, from the next question on."""
        if mode != self.record.mode:
            self.ledger.emit(ModeChanged(mode))

    def instruct(self, instructions: InstructionsGiven | None) -> None:
        """Take a client's own instructions. Raises BadRequest for others than the frozen prompt was made with."""
        if instructions is None or instructions == self.record.instructions:
            return
        if self.record.layers:
            raise BadRequest(
                "The session's system prompt has been fixed since its first turn.",
                hint="Send the one it was begun with, or none; or fork the session.",
            )
        self.ledger.emit(instructions)

    def announce_options(self) -> None:
        """Show the options again: what they can be chosen from has changed."""
        self.ledger.show(OptionsChanged(self.record.options))

    def set_options(self, options: Options) -> None:
        """Change the session's options; a model takes effect with the next turn."""
        if options != self.record.options:
            self.ledger.emit(OptionsChanged(options))

    async def close(self) -> None:
        """Stop what runs, wait for it to end, and let go of the record."""
        self.cancel()
        with anyio.CancelScope(shield=True):
            async with self._turns:
                await self.sources.close()
                await self.workspace.close()
                self._transcript.close()


def title_of(text: str) -> str:
    """Give the first line of a prompt, short enough for a list."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "Untitled")
    return line if len(line) <= TITLE_CHARACTERS else line[: TITLE_CHARACTERS - 1].rstrip() + "…"
