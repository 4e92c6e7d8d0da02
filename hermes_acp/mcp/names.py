"""What a server's tools are called by the model.

Knows: what a tool's name may hold, and that two tools never share one. Does not know: servers, tools.
"""

import re
from collections.abc import Iterable
from hashlib import sha256
from typing import Final

LONGEST_NAME: Final = 64
DIGEST_CHARACTERS: Final = 8


def tool_names(slug: str, tools: Iterable[str]) -> dict[str, str]:
    """Give `mcp__SLUG__TOOL` for each of a server's tools, in characters and length that every vendor takes.

    A tool whose own name fits keeps it; one whose name had to be changed into a taken one, or cut, gets a digest of
    it. The order of the tools does not matter.
    """
    prefix = f"mcp__{slug}__"
    own = sorted(set(tools))
    wanted = {tool: prefix + re.sub(r"[^A-Za-z0-9_-]", "_", tool) for tool in own}
    exact = {name for tool, name in wanted.items() if name == prefix + tool}
    names: dict[str, str] = {}
    for tool, name in wanted.items():
        is_alone = list(wanted.values()).count(name) == 1
        is_own = name == prefix + tool if name in exact else is_alone
        names[tool] = name if is_own and len(name) <= LONGEST_NAME else _with_digest(name, tool)
    return names


def _with_digest(name: str, tool: str) -> str:
    digest = sha256(tool.encode("utf-8", "surrogatepass")).hexdigest()[:DIGEST_CHARACTERS]
    return f"{name[: LONGEST_NAME - DIGEST_CHARACTERS - 1]}_{digest}"
