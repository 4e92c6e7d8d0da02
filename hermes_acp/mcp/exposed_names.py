"""Choose unique names for a server's tools and prompts."""

import re
from collections import Counter
from collections.abc import Iterable
from hashlib import sha256
from typing import Final

MAX_NAME_CHARS: Final = 64
DIGEST_CHARACTERS: Final = 8


def tool_names(slug: str, tools: Iterable[str]) -> dict[str, str]:
    """Return `mcp__SLUG__TOOL` for each of a server's tools, in characters and a length that every vendor accepts."""
    return _names(f"mcp__{slug}__", tools)


def prompt_names(slug: str, prompts: Iterable[str]) -> dict[str, str]:
    """Return `SLUG:PROMPT` for each of a server's prompts, limited to characters that can be typed after a slash."""
    return _names(f"{slug}:", prompts)


def file_name(tool: str) -> str:
    """Convert a tool's name to a valid file name."""
    name = re.sub(r"[^A-Za-z0-9_-]", "_", tool)
    return name if name == tool and len(name) <= MAX_NAME_CHARS else _with_digest(name, tool)


def _names(prefix: str, things: Iterable[str]) -> dict[str, str]:
    """Add a prefix to names; the result does not depend on their order.

    A valid name is unchanged. A name that was truncated, or whose valid form is already taken, gets a digest of the
    original.
    """
    own = sorted(set(things))
    wanted = {thing: prefix + re.sub(r"[^A-Za-z0-9_-]", "_", thing) for thing in own}
    takers = Counter(wanted.values())
    exact = {name for thing, name in wanted.items() if name == prefix + thing}
    names: dict[str, str] = {}
    for thing, name in wanted.items():
        is_own = name == prefix + thing if name in exact else takers[name] == 1
        names[thing] = name if is_own and len(name) <= MAX_NAME_CHARS else _with_digest(name, thing)
    return names


def _with_digest(name: str, thing: str) -> str:
    digest = sha256(thing.encode("utf-8", "surrogatepass")).hexdigest()[:DIGEST_CHARACTERS]
    return f"{name[: MAX_NAME_CHARS - DIGEST_CHARACTERS - 1]}_{digest}"
