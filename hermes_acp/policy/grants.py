"""Standing grants: permissions that the user gave permanently, and whether each of them still applies.

A grant is bound to the state for which it was given, and lapses when that state changes.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from hermes_acp.core.event_types import Grant
from hermes_acp.core.proposals import Calls, Runs

MAX_FILES: Final = 3
MAX_COMMAND_CHARS: Final = 60


class StandingGrants:
    """The standing grants that apply to one check; if there are several for a subject, the last one wins."""

    def __init__(self, grants: Iterable[Grant] = ()) -> None:
        self._known = {(grant.kind, grant.subject): grant for grant in grants}

    def refuses(self, kind: str, subject: str) -> bool:
        """Return whether the user refused this permanently; a refusal remains valid even after changes."""
        grant = self._known.get((kind, subject))
        return grant is not None and not grant.allowed

    def allows(self, kind: str, subject: str) -> bool:
        """Return whether the user allowed this permanently without binding it to a state."""
        grant = self._known.get((kind, subject))
        return grant is not None and grant.allowed and not grant.state

    def allowed_state(self, kind: str, subject: str) -> str | None:
        """Return the state in which this was permanently allowed, or None if it never was."""
        grant = self._known.get((kind, subject))
        return grant.state if grant is not None and grant.allowed else None


def call_subject(effect: Calls) -> str:
    """Return the subject of a standing grant for an MCP server's tool, whatever its arguments."""
    return f"{effect.server}\0{effect.tool}"


def run_subject(effect: Runs) -> str:
    """Return the subject of a standing grant for exactly this command in exactly this folder."""
    return f"{effect.cwd}\0{effect.command}"


def prefix_subject(cwd: str, prefix: str) -> str:
    """Return the subject of a standing grant for a command prefix; no command contains two NUL characters."""
    return f"{cwd}\0{prefix}\0"


def describe_grant(grant: Grant) -> str:
    """Describe what a grant covers."""
    match grant.kind:
        case "run":
            cwd, command, *rest = grant.subject.split("\0")
            words = f"`{command}` with any further arguments" if rest else f"`{command}`"
            return f"{words} in {cwd}{', in the sandbox' if grant.allowed else ''}"
        case "call":
            server, _, tool = grant.subject.partition("\0")
            return f"the tool {tool} of the server {server}"
        case "reach":
            return f"connections to {grant.subject}"
        case "delete":
            return f"deletions of {grant.subject}"
        case "write":
            return f"changes to {grant.subject}"


def describe_grants(grants: Sequence[Grant], place: str) -> str:
    """Describe, for a button, everything that a permanent answer would cover; `place` is the session's folder.

    Anything that the question shows in full (a long command, a list of files) is referred to, never shortened.
    """
    written = [grant for grant in grants if grant.kind == "write"]
    are_many = len(written) > MAX_FILES
    words = [_word(grant, place) for grant in grants if not (are_many and grant.kind == "write")]
    words += [f"changes to these {len(written)} files"] if are_many else []
    return " and ".join(dict.fromkeys(words))


def confinement_note(grants: Sequence[Grant]) -> str:
    """Return a button suffix that says how a permanently allowed command runs; empty for other grants."""
    return ", in the sandbox" if any(grant.kind == "run" for grant in grants) else ""


def can_be_kept(grants: Sequence[Grant]) -> bool:
    """Return whether an answer may apply to later sessions: permission to connect to a host ends with its session."""
    return not any(grant.kind == "reach" for grant in grants)


def _word(grant: Grant, place: str) -> str:
    match grant.kind:
        case "run":
            cwd, command, *rest = grant.subject.split("\0")
            # The same command in another folder of the session needs a grant of its own.
            below = f" in {_relative(cwd, place)}" if cwd != place else ""
            if rest:
                return f"`{_printable(command)} …`{below}"
            is_short = len(command) <= MAX_COMMAND_CHARS and "\n" not in command.strip()
            return f"`{_printable(command.strip())}`{below}" if is_short else f"exactly this command{below}"
        case "write":
            return f"changes to {_relative(grant.subject, place)}"
        case "delete":
            return f"deletions of {_relative(grant.subject, place)}"
        case "reach" | "call":
            return describe_grant(grant)


def _relative(path: str, place: str) -> str:
    return _printable(path.removeprefix(f"{place.rstrip('/')}/") if place else path)


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else "�" for letter in text)
