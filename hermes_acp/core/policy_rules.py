"""A policy rule about tools, written by a person or a workspace."""

from typing import Literal

from msgspec import Struct

Decision = Literal["allow", "ask", "deny"]
AccessKind = Literal["any", "read", "write"]


class Rule(Struct, frozen=True):
    """A decision about everything that matches all its fields; an empty field matches anything.

    `tool` is a glob for tool names, `path` a glob for paths with one kind of `access`, `command` the first words of a
    simple command, and `host` a glob for host names. `source` tells people where the rule is written. If `is_users` is
    false, the rule comes from a workspace rather than from the user.
    """

    decision: Decision
    tool: str = ""
    path: str = ""
    access: AccessKind = "any"
    command: tuple[str, ...] = ()
    host: str = ""
    source: str = ""
    is_users: bool = True
