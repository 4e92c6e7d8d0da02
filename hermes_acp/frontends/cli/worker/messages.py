"""Texts of `hermes-acp worker`."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

BOARD_HELP: Final = "work on this board only; repeatable (default: all boards)"
SLOTS_HELP: Final = "how many runs to work on at the same time (default: {default})"
PLACE_HELP: Final = "also take work that is meant for workers at this place; repeatable"
ONLY_PLACES_HELP: Final = "take only work that is meant for these places"
PROFILE_HELP: Final = "also work on the runs of this profile, which must share the fleet's pool; repeatable"
DRAIN_HELP: Final = "seconds that running work may take to end after SIGTERM (default: {default:g})"
ALLOW_BYPASS_HELP: Final = "allow runs in the mode that asks no questions"
NO_PLACES: Final = "--only-places needs at least one --place."
OUTCOMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "Done": "done",
        "InputRequired": "waits for an answer",
        "Failed": "failed",
        "Fenced": "another worker has it",
        "Crashed": "its process was killed",
    }
)


def ready(slots: int) -> str:
    """Say that the worker is looking for work."""
    return f"Looking for work, {slots} {'run' if slots == 1 else 'runs'} at a time. Ctrl+C stops."


def draining(running: int) -> str:
    """Say that the worker is waiting for its runs to end."""
    return f"Stopping. Waiting for {running} {'run' if running == 1 else 'runs'}."


def started(run: str, pid: int) -> str:
    """Say that work on a run has started."""
    return f"{run}: started (process {pid})"


def ended(run: str, outcome: str, sentence: str) -> str:
    """Say how work on a run ended; `outcome` is the type of its outcome."""
    return f"{run}: {OUTCOMES.get(outcome, outcome)}{f'. {sentence}' if sentence else ''}"
