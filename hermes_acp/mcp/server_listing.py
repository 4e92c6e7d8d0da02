"""Fetch the tools and prompts that a server lists, and keep those that can be offered."""

import hashlib
import os
from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

import msgspec
from anyio.to_thread import run_sync
from msgspec import Struct

from hermes_acp.core.untrusted_text import plain
from hermes_acp.mcp.exposed_names import file_name
from hermes_acp.mcp.server_definitions import ServerContext, ServerSpec
from hermes_acp.mcp.server_prompts import ListedArgument, ListedPrompt
from hermes_acp.mcp.server_tools import ListedTool
from hermes_acp.mcp.tool_descriptions import ToolDescription, describe_tool

if TYPE_CHECKING:
    import mcp.types
    from mcp import Client

MAX_PAGES: Final = 100
MAX_TOOLS: Final = 2000
MAX_PROMPTS: Final = 200
MAX_ARGUMENTS: Final = 20
MAX_DESCRIPTION_CHARS: Final = 8000
MAX_LIST_BYTES: Final = 2 << 20


class ServerOffers(Struct, frozen=True):
    """What a server offers, with notices about it for the user."""

    tools: tuple[ListedTool, ...] = ()
    prompts: tuple[ListedPrompt, ...] = ()
    news: tuple[str, ...] = ()


async def fetch_offers(client: "Client", spec: ServerSpec, slug: str, context: ServerContext) -> ServerOffers:
    """Request everything that a server lists by name, limited to the selected tools.

    Raises whatever the client raises.
    """
    tools = await _list_tools(client, spec, slug, context)
    prompts = await _list_prompts(client, spec.name, context.clean)
    return ServerOffers(tools.tools, prompts.prompts, (*tools.news, *prompts.news))


async def _list_tools(client: "Client", spec: ServerSpec, slug: str, context: ServerContext) -> ServerOffers:
    """Request all pages of the tool list, and prepare the tools for a model."""
    if client.server_capabilities.tools is None:
        return ServerOffers()
    found: list[mcp.types.Tool] = []
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        page = await client.list_tools(cursor=cursor)
        found += (
            tool
            for tool in page.tools
            if not spec.tools or any(fnmatchcase(tool.name, each) for each in spec.tools)
        )
        cursor = page.next_cursor
        if cursor is None or len(found) > MAX_TOOLS:
            break
    return await run_sync(_prepare_tools, found, spec.name, slug, context)


async def _list_prompts(client: "Client", server: str, clean: Callable[[str], str]) -> ServerOffers:
    if client.server_capabilities.prompts is None:
        return ServerOffers()
    found: list[mcp.types.Prompt] = []
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        page = await client.list_prompts(cursor=cursor)
        found += page.prompts
        cursor = page.next_cursor
        if cursor is None or len(found) > MAX_PROMPTS:
            break
    return await run_sync(_prepare_prompts, found, server, clean)


def _prepare_prompts(
    found: "list[mcp.types.Prompt]", server: str, clean: Callable[[str], str]
) -> ServerOffers:
    news: list[str] = []
    if len(found) > MAX_PROMPTS:
        news.append(
            f"The MCP server {plain(server)!r} lists too many prompts; the first {MAX_PROMPTS} are offered."
        )
    offered: dict[str, ListedPrompt] = {}
    for prompt in found[:MAX_PROMPTS]:
        about = prompt.description or prompt.title or ""
        description = plain(clean(about[:MAX_DESCRIPTION_CHARS])) if about else ""
        arguments = tuple(
            ListedArgument(each.name, bool(each.required))
            for each in (prompt.arguments or [])[:MAX_ARGUMENTS]
        )
        offered[prompt.name] = ListedPrompt(prompt.name, description, arguments)
    return ServerOffers(prompts=tuple(offered.values()), news=tuple(news))


def _prepare_tools(
    found: "list[mcp.types.Tool]", server: str, slug: str, context: ServerContext
) -> ServerOffers:
    news: list[str] = []
    if len(found) > MAX_TOOLS:
        news.append(
            f"The MCP server {plain(server)!r} lists too many tools; the first {MAX_TOOLS} are offered."
        )
    offered: dict[str, ListedTool] = {}
    room_bytes = MAX_LIST_BYTES
    for tool in found[:MAX_TOOLS]:
        who = f"{plain(tool.name, 80)!r} of the MCP server {plain(server)!r}"
        said = describe_tool((tool.description or "")[:MAX_DESCRIPTION_CHARS], tool.input_schema)
        if said is None:
            news.append(
                f"The tool {who} is left out: its parameters are not a JSON Schema of acceptable size."
            )
            continue
        room_bytes -= len(said.whole)
        if room_bytes < 0:
            news.append(
                f"The tool {who} and the ones after it are left out: their descriptions are too long."
            )
            break
        cleaned = context.cleaned(said)
        if cleaned is not said and context.is_text_allowed(said.whole):
            cleaned = said
        if cleaned is not said:
            news.append(_report_removed(who, said, context, f"{slug}.{file_name(tool.name)}.txt"))
        hints = tool.annotations
        is_read_only = bool(hints and hints.read_only_hint)
        offered[tool.name] = ListedTool(
            tool.name, cleaned.description, cleaned.parameters, is_read_only, _digest_of(tool)
        )
    return ServerOffers(tuple(offered.values()), news=tuple(news))


def _report_removed(who: str, said: ToolDescription, context: ServerContext, file: str) -> str:
    """Report what was removed, by which rules, and how to allow it; save the original text for inspection."""
    rules = ", ".join(context.rules_of(said.whole)) or "in its parts"
    path = context.logs / file
    told = f"The description of the tool {who} tried to instruct the model ({rules}); that part was left out."
    try:
        context.logs.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
        with open(os.open(path, flags, 0o600), "wb") as kept:
            kept.write(said.whole.encode("utf-8", "replace"))
    except OSError:
        return told
    return (
        f"{told} It is saved in {path}: `hermes-acp scan` shows what is wrong with that file, and `--allow` accepts it "
        "from the next session on, until it changes."
    )


def _digest_of(tool: "mcp.types.Tool") -> str:
    """Return a digest of everything that a server says about a tool, including what is hidden from the model."""
    said = msgspec.json.encode(tool.model_dump(mode="json"), order="deterministic")
    return hashlib.sha256(said).hexdigest()[:16]
