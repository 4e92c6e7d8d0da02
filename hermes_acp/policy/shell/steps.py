"""What one simple command would do, and whether that is harmless.

Knows: the verdict of the tables on its program and words, the paths it names. Does not know: modes, grants, which paths
are fine.
"""

from typing import Literal

from msgspec import Struct

Judgement = Literal["harmless", "unknown", "forbidden"]


class Step(Struct, frozen=True):
    """One simple command as it was judged: `unknown` is for a person to decide, `forbidden` for nobody.

    Paths are absolute, links resolved; `beginning` is what a lasting permission may remember of it, empty where that
    could stand for something else.
    """

    command: str
    program: str
    judgement: Judgement
    why: str = ""
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    deletes: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    beginning: str = ""
