"""Summarise for the user what a call would do, and list the reasons for asking that the summary does not already state.

A command's effects are derived from its words (`program_effects`).
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct

from hermes_acp.core.event_types import WARNING_EFFECTS, CallEffect, EffectKind
from hermes_acp.core.proposals import (
    Calls,
    Deletes,
    Effect,
    Invokes,
    Presses,
    Reaches,
    Reads,
    Recalls,
    Remembers,
    Runs,
    Writes,
)
from hermes_acp.policy.program_effects import deletes_files, is_loopback, publishes, uses_network
from hermes_acp.policy.shell.command_step import Step

MAX_TARGETS: Final = 50
MAX_COMMAND_CHARACTERS: Final = 120
MOVERS: Final = frozenset({"mv", "rename"})
"""Programs for which the old name of a file is removed but the file is kept."""
DELETES: Final = " deletes files"
REACHES: Final = " contacts other machines"
"""Endings of reasons (in `commands.toml`) that say no more than the effects with the same name."""
_Found = tuple[EffectKind, str]


class CallSummary(Struct, frozen=True):
    """What a call would do, and the remaining reasons why the user is asked."""

    effects: tuple[CallEffect, ...] = ()
    why: str = ""


def summarize_call(effects: Iterable[Effect], steps: Sequence[Step], why: str, place: str) -> CallSummary:
    """Summarise a call in a session whose working directory is `place`; `steps` are the steps of its commands."""
    found = [*_found_in(effects, place), *(each for step in steps for each in _found_in_step(step, place))]
    targets: dict[EffectKind, dict[str, None]] = {}
    for kind, target in found:
        named = targets.setdefault(kind, {})
        if target:
            named[target] = None
    summary = tuple(CallEffect(kind, tuple(named)[:MAX_TARGETS]) for kind, named in targets.items())
    return CallSummary(summary, _remaining(why, summary, place))


def is_warned_about(effects: Iterable[CallEffect]) -> bool:
    """Return whether the effects include one about which the user is warned."""
    return any(effect.kind in WARNING_EFFECTS for effect in effects)


def _remaining(why: str, effects: Sequence[CallEffect], place: str) -> str:
    """Return the reasons that the effects do not already state, with paths relative to the working directory."""
    if place.strip("/"):
        why = why.replace(f"{place.rstrip('/')}/", "")
    stated = {
        f"{target} would be deleted" for each in effects if each.kind == "deletes" for target in each.targets
    }
    stated |= {
        f"{target} would be contacted"
        for each in effects
        if each.kind == "reaches"
        for target in each.targets
    }
    is_stated = is_warned_about(effects)
    reasons = [
        reason
        for reason in why.split("; ")
        if reason not in stated and not (is_stated and reason.endswith((DELETES, REACHES)))
    ]
    return "; ".join(reasons)


def _found_in(effects: Iterable[Effect], place: str) -> Iterator[_Found]:
    for effect in effects:
        match effect:
            case Reads(path=path):
                yield "reads", _relative(path, place)
            case Writes(path=path):
                yield "writes", _relative(path, place)
            case Deletes(path=path):
                yield "deletes", _relative(path, place)
            case Runs(command=command):
                yield "runs", _short(command)
            case Reaches(host=host):
                if not is_loopback(host):
                    yield "reaches", host
            case Presses(sends_text=sends_text, host=host):
                if sends_text:
                    yield "reaches", host
            case Calls(server=server, tool=tool):
                yield "calls", f"{tool} ({server})"
            case Invokes(function=function):
                yield "calls", function
            case Recalls():
                yield "recalls", ""
            case Remembers(path=path):
                yield "remembers", path.rpartition("/")[2]


def _found_in_step(step: Step, place: str) -> Iterator[_Found]:
    for path in step.writes:
        yield "writes", _relative(path, place)
    reasons = f"{step.why}; "
    if (deletes_files(step) and step.program not in MOVERS) or f"{DELETES}; " in reasons:
        for target in [_relative(path, place) for path in step.deletes] or [_short(step.command)]:
            yield "deletes", target
    if publishes(step):
        yield "publishes", _short(step.command)
    elif uses_network(step) or f"{REACHES}; " in reasons:
        for host in [host for host in step.hosts if not is_loopback(host)] or [_short(step.command)]:
            yield "reaches", host


def _relative(path: str, place: str) -> str:
    return path.removeprefix(f"{place.rstrip('/')}/") if place.strip("/") else path


def _short(command: str) -> str:
    line = " ".join(command.split())
    return line if len(line) <= MAX_COMMAND_CHARACTERS else f"{line[:MAX_COMMAND_CHARACTERS]}…"
