"""The tools and prompts a server lists, as far as they can be offered.

Knows: pages, bounds, that a description is foreign text. Does not know: connections, names given to models.
"""

import hashlib
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec
from anyio.to_thread import run_sync
from msgspec import Struct

from hermes_acp.core.untrusted import plain, with_clean_words
from hermes_acp.mcp.prompts import ListedArgument, ListedPrompt
from hermes_acp.mcp.tools import ListedTool

if TYPE_CHECKING:
    import mcp.types
    from mcp import Client

MOST_PAGES: Final = 100
MOST_TOOLS: Final = 500
MOST_PROMPTS: Final = 200
MOST_ARGUMENTS: Final = 20
LONGEST_DESCRIPTION: Final = 8000
LARGEST_SCHEMA_BYTES: Final = 64 * 1024

Clean = Callable[[str], str]


class Listing(Struct, frozen=True):
    """What a server offers, and what the user should know of it."""

    tools: tuple[ListedTool, ...] = ()
    prompts: tuple[ListedPrompt, ...] = ()
    news: tuple[str, ...] = ()


async def list_offers(client: "Client", server: str, clean: Clean, wanted: Sequence[str] = ()) -> Listing:
    """Ask for everything a server offers by name, of its tools those that fit a `wanted` pattern, if there are any.

    Raises what the client raises.
    """
    tools, prompts = (
        await _list_tools(client, server, clean, wanted),
        await _list_prompts(client, server, clean),
    )
    return Listing(tools.tools, prompts.prompts, (*tools.news, *prompts.news))


async def _list_tools(client: "Client", server: str, clean: Clean, wanted: Sequence[str]) -> Listing:
    """Ask for all pages and make them fit to be shown to a model."""
    if client.server_capabilities.tools is None:
        return Listing()
    found: list[mcp.types.Tool] = []
    cursor: str | None = None
    for _ in range(MOST_PAGES):
        page = await client.list_tools(cursor=cursor)
        found += (
            tool for tool in page.tools if not wanted or any(fnmatchcase(tool.name, each) for each in wanted)
        )
        cursor = page.next_cursor
        if cursor is None or len(found) > MOST_TOOLS:
            break
    return await run_sync(_prepare_tools, found, server, clean)


async def _list_prompts(client: "Client", server: str, clean: Clean) -> Listing:
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


def _prepare_prompts(found: "list[mcp.types.Prompt]", server: str, clean: Clean) -> Listing:
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


def _prepare_tools(found: "list[mcp.types.Tool]", server: str, clean: Clean) -> Listing:
    news: list[str] = []
    if len(found) > MOST_TOOLS:
        news.append(
            f"The MCP server {plain(server)!r} lists too many tools; the first {MOST_TOOLS} are offered."
        )
    offered: dict[str, ListedTool] = {}
    for tool in found[:MOST_TOOLS]:
        who = f"{plain(tool.name, 80)!r} of the MCP server {plain(server)!r}"
        if not _is_usable(tool.input_schema):
            news.append(f"The tool {who} is left out: its parameters are no JSON Schema of bearable size.")
            continue
        cleaned = _Cleaner(clean)
        description = cleaned.text((tool.description or "")[:LONGEST_DESCRIPTION])
        parameters = cast("dict[str, object]", with_clean_words(tool.input_schema, cleaned.text))
        if cleaned.has_cut:
            news.append(f"What the tool {who} says of itself tried to instruct the model; that was left out.")
        hints = tool.annotations
        offered[tool.name] = ListedTool(
            tool.name, description, parameters, bool(hints and hints.read_only_hint), _digest_of(tool)
        )
    return Listing(tuple(offered.values()), news=tuple(news))


def _digest_of(tool: "mcp.types.Tool") -> str:
    """Give a digest of all that a server says of a tool; what is not shown to a model counts too."""
    said = msgspec.json.encode(tool.model_dump(mode="json"), order="deterministic")
    return hashlib.sha256(said).hexdigest()[:16]


def _is_usable(schema: dict[str, Any]) -> bool:
    try:
        return (
            schema.get("type", "object") == "object"
            and len(msgspec.json.encode(schema)) <= LARGEST_SCHEMA_BYTES
        )
    except RecursionError:
        return False


class _Cleaner:
    """Cleans the foreign words of one tool, and remembers whether anything was cut."""

    def __init__(self, clean: Clean) -> None:
        self._clean = clean
        self.has_cut = False

    def text(self, words: str) -> str:
        """Clean one text."""
        cleaned = self._clean(words) if words else words
        self.has_cut = self.has_cut or cleaned != words
        return cleaned
