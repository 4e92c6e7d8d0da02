"""The analysis of one simple command: what it would do, and whether that is harmless."""

from typing import TYPE_CHECKING, Literal

from msgspec import Struct

if TYPE_CHECKING:
    from hermes_acp.policy.shell.parsing.simple_command import Command

StepClass = Literal["harmless", "unknown", "forbidden"]


class Step(Struct, frozen=True):
    """One analysed simple command; `unknown` needs a person's decision, `forbidden` is never allowed.

    Paths are absolute with links resolved; for those in `lists`, only names are shown. `passed_over` pairs each path
    that one more word would exclude with that word. `prefix` is what a standing grant may remember, or an empty string
    if that is ambiguous. `origin` is the command itself, or None for a guess at what a wrapper may start. `is_plain`
    means that the command hides nothing: not its name, variables or redirections. `dependencies` and `scripts` are what
    it depends on (`shell.dependencies`); `words` are its program and arguments, with None for each unknown word.
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
