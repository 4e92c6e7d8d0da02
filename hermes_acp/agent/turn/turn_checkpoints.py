"""Checkpoint a workspace before a turn's first change and after the turn, so that the turn can be undone.

If no checkpoint can be stored, work continues and the user is warned once.
"""

import os
from collections.abc import Callable, Sequence
from typing import Literal

import anyio

from hermes_acp.agent.turn.ledger import Ledger
from hermes_acp.core.events import Noticed
from hermes_acp.core.ports.checkpoint_ports import CheckpointContext, CheckpointError, Checkpoints


class TurnCheckpoints:
    """The checkpoints of one session; used by one turn at a time."""

    def __init__(self, find: Callable[[], Checkpoints | None], ledger: Ledger) -> None:
        """Start without a checkpoint. `find` returns the store or, if checkpoints are off, None; it may raise."""
        self._find = find
        self._ledger = ledger
        self._lock = anyio.Lock()
        self._checkpoint = ""
        self._given_up = ""
        self._touched: dict[str, None] = {}
        self._scope: Literal["files", "folders", "files only"] = "files"
        """The scope of the open checkpoint: "files only" means that the whole folders could not be stored in this turn.
        """
        self._is_expected = False
        self._warnings: set[str] = set()

    def expect(self, roots: Sequence[str]) -> None:
        """Prepare for a call that may change any file, while the user is asked about it."""
        if self._is_expected:
            return
        self._is_expected = True
        try:
            if checkpoints := self._find():
                checkpoints.expect(roots)
        except CheckpointError:
            return  # the failure is reported when there is something to store

    async def before(
        self,
        turn_id: str,
        touched: Sequence[str],
        describe: Callable[[], CheckpointContext],
        *,
        is_whole: bool = True,
    ) -> None:
        """Store the state before these files (absolute paths) change and, with `is_whole`, before any other file may.

        A failure is reported once; if the whole folders cannot be stored, these files still are. `describe` is called
        only for the turn's first change.
        """
        async with self._lock:
            if self._given_up == turn_id:
                return
            fresh = [path for path in touched if path not in self._touched]
            files = _without_folders(fresh)
            is_whole = is_whole or files != fresh  # a folder includes everything in it
            stored = False
            if is_whole and self._scope == "files":
                stored = await self._store(fresh, describe, is_whole=True)
                self._scope = "folders" if stored else "files only"
            if not stored:
                stored = await self._store(fresh if self._scope == "folders" else files, describe)
            if not stored and not self._checkpoint:
                self._given_up = turn_id

    async def _store(
        self, fresh: Sequence[str], describe: Callable[[], CheckpointContext], *, is_whole: bool = False
    ) -> bool:
        """Store a state in the turn's checkpoint; return whether that worked."""
        try:
            checkpoints = self._find()
            if checkpoints is None:
                return True
            if not self._checkpoint:
                self._checkpoint = await checkpoints.open(describe(), fresh, is_whole=is_whole)
            elif fresh or is_whole:
                await checkpoints.add(self._checkpoint, fresh, is_whole=is_whole)
        except CheckpointError as error:
            self._warn(error)
            return False
        self._touched |= dict.fromkeys(fresh)
        return True

    async def after(self) -> None:
        """Store the state at the end of the turn if anything may have changed."""
        async with self._lock:
            checkpoint, touched = self._checkpoint, tuple(self._touched)
            self._checkpoint, self._touched, self._scope = "", {}, "files"
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


def _without_folders(paths: Sequence[str]) -> list[str]:
    return [path for path in paths if not os.path.isdir(path)]
