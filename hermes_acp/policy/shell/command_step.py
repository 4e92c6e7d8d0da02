"""What one simple command would do, and whether that is harmless.

Knows: the verdict of the tables on its program and words, the paths it names. Does not know: modes, grants, which paths
are fine.
"""

from typing import TYPE_CHECKING, Literal

from msgspec import Struct

if TYPE_CHECKING:
    from hermes_acp.policy.shell.simple_command import Command

StepClass = Literal["harmless", "unknown", "forbidden"]


class Step(Struct, frozen=True):
    """One simple command as it was judged: `unknown` is for a person to decide, `forbidden` for nobody.

    Paths are absolute, links resolved; of those it `lists` the names alone are shown.
    `passed_over` are those that would not be read with one more word, each with that word.
    `prefix` is what a lasting permission may remember of it, empty where that could stand for something else.
    `origin` is the command itself, None of a guess at what a wrapper may start. It
    `is_plain` where nothing about it is hidden: its name, its variables, where its streams go. `dependencies` and
    `scripts`
    are what it stands on (`shell.dependencies`), `words` its program and arguments, None for one that is not known.
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
