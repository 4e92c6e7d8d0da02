"""What a person, or a workspace, laid down about tools: one rule, and where it stands.

Knows: the shape of a rule. Does not know: how rules are written, who judges by them.
"""

from typing import Literal

from msgspec import Struct

Decision = Literal["allow", "ask", "deny"]
AccessKind = Literal["any", "read", "write"]


class Rule(Struct, frozen=True):
    """A decision about what fits everything that is named here; an empty field names nothing.

    `tool` is a glob of tool names, `path` a glob of paths for one kind of `access`, `command` the first words of a
    simple command, `host` a glob of host names. `source` says where the rule stands, for people. A rule that is not
    the user's own (`is_users`) comes from a workspace.
    """

    decision: Decision
    tool: str = ""
    path: str = ""
    access: AccessKind = "any"
    command: tuple[str, ...] = ()
    host: str = ""
    source: str = ""
    is_users: bool = True
