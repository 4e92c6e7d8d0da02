"""A policy rule about tools, written by a person or a workspace."""

from typing import Literal

from msgspec import Struct

Decision = Literal["allow", "ask", "deny"]
AccessKind = Literal["any", "read", "write"]


class Rule(Struct, frozen=True):
    """A decision about everything that matches all its fields; an empty field matches anything.

    `tool` is a glob of tool names, `path` a glob of paths for one kind of `access`, `command` the first words of a
    simple command, `host` a glob of host names. `source` tells people where the rule is written. A rule that is not the
    user's own (`is_users`) comes from a workspace.
    """

    decision: Decision
    tool: str = ""
    path: str = ""
    access: AccessKind = "any"
    command: tuple[str, ...] = ()
    host: str = ""
    source: str = ""
    is_users: bool = True
