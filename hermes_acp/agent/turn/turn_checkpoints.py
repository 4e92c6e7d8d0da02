"""Store the state of a workspace before the first change of a turn and after the turn, so that it can be undone.

If no checkpoint can be stored, work continues and the user is warned once.
"""

from collections.abc import Callable, Sequence

import anyio

from hermes_acp.agent.turn.ledger import Ledger
from hermes_acp.core.events import Noticed
from hermes_acp.core.ports.checkpoint_ports import CheckpointContext, CheckpointError, Checkpoints


class TurnCheckpoints:
    """The checkpoints of one session; used by one turn at a time."""

    def __init__(self, find: Callable[[], Checkpoints | None], ledger: Ledger) -> None:
        """Start without a checkpoint. `find` returns the store, or None if checkpoints are off, or raises."""
        self._find = find
        self._ledger = ledger
        self._lock = anyio.Lock()
        self._checkpoint = ""
        self._given_up = ""
        self._touched: dict[str, None] = {}
        self._is_expected = False
        self._warnings: set[str] = set()

    def expect(self, roots: Sequence[str]) -> None:
        """Prepare for a change: a turn that reads is likely to make one."""
        if self._is_expected:
            return
        self._is_expected = True
        try:
            if checkpoints := self._find():
                checkpoints.expect(roots)
        except CheckpointError:
            return  # reported when there is something to store

    async def before(
        self, turn_id: str, touched: Sequence[str], describe: Callable[[], CheckpointContext]
    ) -> None:
        """Store the state before these files (absolute) or any others change; a failure is reported once.

        `describe` is called for the first change of a turn only.
        """
        async with self._lock:
            if self._given_up == turn_id:
                return
            fresh = [path for path in touched if path not in self._touched]
            try:
                checkpoints = self._find()
                if checkpoints is None:
                    return
                if not self._checkpoint:
                    self._checkpoint = await checkpoints.open(describe(), fresh)
                elif fresh:
                    await checkpoints.add(self._checkpoint, fresh)
                self._touched |= dict.fromkeys(fresh)
            except CheckpointError as error:
                self._given_up = "" if self._checkpoint else turn_id
                self._warn(error)

    async def after(self) -> None:
        """Store the state at the end of the turn, if anything may have changed."""
        async with self._lock:
            checkpoint, touched = self._checkpoint, tuple(self._touched)
            self._checkpoint, self._touched = "", {}
            if not checkpoint:
                return
            try:
                if checkpoints := self._find():
                    await checkpoints.close(checkpoint, touched)
            except CheckpointError as error:
                self._warn(error)

    def _warn(self, error: CheckpointError) -> None:
        sentence = error.sentence()
        if sentence not in self._warnings:
            self._warnings.add(sentence)
            self._ledger.emit(Noticed("warning", sentence))
