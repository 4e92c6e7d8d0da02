"""What one simple command would do, and whether that is harmless."""

from typing import TYPE_CHECKING, Literal

from msgspec import Struct

if TYPE_CHECKING:
    from hermes_acp.policy.shell.parsing.simple_command import Command

StepClass = Literal["harmless", "unknown", "forbidden"]


class Step(Struct, frozen=True):
    """One simple command as analysed: `unknown` is for a person to decide, `forbidden` is never allowed.

    Paths are absolute, links resolved; of those it `lists`, only the names are shown. `passed_over` are those
    that one more word would exclude, each with that word. `prefix` is what a standing grant may remember of
    it, empty where that is ambiguous. `origin` is the command itself, None for a guess at what a wrapper may
    start. It `is_plain` where nothing about it is hidden: its name, its variables, its redirections.
    `dependencies` and `scripts` are what it depends on (`shell.dependencies`), `words` its program and
    arguments, None where they are not known.
    """

    command: str
    program: str
    judgement: StepClass
    why: str = ""
    reads: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()
    passed_over: tuple[tuple[str, str], ...] = ()
    writes: tuple[str, ...] = ()
    deletes: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    prefix: str = ""
    dependencies: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    words: tuple[str | None, ...] = ()
    is_plain: bool = True
    origin: "Command | None" = None
