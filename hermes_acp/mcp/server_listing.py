"""The tools and prompts a server lists, as far as they can be offered.

Knows: pages, bounds, that a description is foreign text. Does not know: connections, names given to models.
"""

import hashlib
import os
from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

import msgspec
from anyio.to_thread import run_sync
from msgspec import Struct

from hermes_acp.core.untrusted import plain
from hermes_acp.mcp.names import file_name
from hermes_acp.mcp.prompts import ListedArgument, ListedPrompt
from hermes_acp.mcp.specs import ServerSpec, Surroundings
from hermes_acp.mcp.tools import ListedTool
from hermes_acp.mcp.wordings import Wording, wording_of

if TYPE_CHECKING:
    import mcp.types
    from mcp import Client

MOST_PAGES: Final = 100
MOST_TOOLS: Final = 500
MOST_PROMPTS: Final = 200
MOST_ARGUMENTS: Final = 20
LONGEST_DESCRIPTION: Final = 8000
LARGEST_LIST_BYTES: Final = 2 << 20


class Listing(Struct, frozen=True):
    """What a server offers, and what the user should know of it."""

    tools: tuple[ListedTool, ...] = ()
    prompts: tuple[ListedPrompt, ...] = ()
    news: tuple[str, ...] = ()


async def list_offers(client: "Client", spec: ServerSpec, slug: str, around: Surroundings) -> Listing:
    """Ask for everything a server offers by name, of its tools those that are wanted. Raises what the client raises."""
    tools = await _list_tools(client, spec, slug, around)
    prompts = await _list_prompts(client, spec.name, around.clean)
    return Listing(tools.tools, prompts.prompts, (*tools.news, *prompts.news))


async def _list_tools(client: "Client", spec: ServerSpec, slug: str, around: Surroundings) -> Listing:
    """Ask for all pages and make them fit to be shown to a model."""
    if client.server_capabilities.tools is None:
        return Listing()
    found: list[mcp.types.Tool] = []
    cursor: str | None = None
    for _ in range(MOST_PAGES):
        page = await client.list_tools(cursor=cursor)
        found += (
            tool
            for tool in page.tools
            if not spec.tools or any(fnmatchcase(tool.name, each) for each in spec.tools)
        )
        cursor = page.next_cursor
        if cursor is None or len(found) > MOST_TOOLS:
            break
    return await run_sync(_prepare_tools, found, spec.name, slug, around)


async def _list_prompts(client: "Client", server: str, clean: Callable[[str], str]) -> Listing:
    if client.server_capabilities.prompts is None:
        return Listing()
    found: list[mcp.types.Prompt] = []
    cursor: str | None = None
    for _ in range(MOST_PAGES):
        page = await client.list_prompts(cursor=cursor)
        found += page.prompts
        cursor = page.next_cursor
        if cursor is None or len(found) > MOST_PROMPTS:
            break
    return await run_sync(_prepare_prompts, found, server, clean)


def _prepare_prompts(found: "list[mcp.types.Prompt]", server: str, clean: Callable[[str], str]) -> Listing:
    news: list[str] = []
    if len(found) > MOST_PROMPTS:
        news.append(
            f"The MCP server {plain(server)!r} lists too many prompts; the first {MOST_PROMPTS} are offered."
        )
    offered: dict[str, ListedPrompt] = {}
    for prompt in found[:MOST_PROMPTS]:
        about = prompt.description or prompt.title or ""
        description = plain(clean(about[:LONGEST_DESCRIPTION])) if about else ""
        arguments = tuple(
            ListedArgument(each.name, bool(each.required))
            for each in (prompt.arguments or [])[:MOST_ARGUMENTS]
        )
        offered[prompt.name] = ListedPrompt(prompt.name, description, arguments)
    return Listing(prompts=tuple(offered.values()), news=tuple(news))


def _prepare_tools(found: "list[mcp.types.Tool]", server: str, slug: str, around: Surroundings) -> Listing:
    news: list[str] = []
    if len(found) > MOST_TOOLS:
        news.append(
            f"The MCP server {plain(server)!r} lists too many tools; the first {MOST_TOOLS} are offered."
        )
    offered: dict[str, ListedTool] = {}
    room_bytes = LARGEST_LIST_BYTES
    for tool in found[:MOST_TOOLS]:
        who = f"{plain(tool.name, 80)!r} of the MCP server {plain(server)!r}"
        said = wording_of((tool.description or "")[:LONGEST_DESCRIPTION], tool.input_schema)
        if said is None:
            news.append(f"The tool {who} is left out: its parameters are no JSON Schema of bearable size.")
            continue
        room_bytes -= len(said.whole)
        if room_bytes < 0:
            news.append(f"The tool {who} and those behind it are left out: they say too much of themselves.")
            break
        cleaned = said if around.lets_pass(said.whole) else said.cleaned(around.clean)
        if cleaned is not said:
            news.append(_told_of_cut(who, said, around, f"{slug}.{file_name(tool.name)}.txt"))
        hints = tool.annotations
        is_read_only = bool(hints and hints.read_only_hint)
        offered[tool.name] = ListedTool(
            tool.name, cleaned.description, cleaned.parameters, is_read_only, _digest_of(tool)
        )
    return Listing(tuple(offered.values()), news=tuple(news))


def _told_of_cut(who: str, said: Wording, around: Surroundings, file: str) -> str:
    """Tell that something was cut out, by which rules, and how to let it pass; keep the words for a look at them."""
    rules = ", ".join(around.rules_of(said.whole)) or "in its parts"
    path = around.logs / file
    told = f"What the tool {who} says of itself tried to instruct the model ({rules}); that was left out."
    try:
        around.logs.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
        with open(os.open(path, flags, 0o600), "wb") as kept:
            kept.write(said.whole.encode("utf-8", "replace"))
    except OSError:
        return told
    return (
        f"{told} It is in {path}: `hermes-acp scan` shows what is wrong with that file, and with `--allow` lets it "
        "pass from the next session on, until a word of it changes."
    )


def _digest_of(tool: "mcp.types.Tool") -> str:
    """Give a digest of all that a server says of a tool; what is not shown to a model counts too."""
    said = msgspec.json.encode(tool.model_dump(mode="json"), order="deterministic")
    return hashlib.sha256(said).hexdigest()[:16]
