"""Measure how often the search for deferred tools finds the right one.

`tool_search.toml` contains the tools of 45 invented servers and 200 requests as people would word them. A request
counts as answered if one search returns one of its tools; a search also lists some less likely ones. `--misses` lists
the missed requests; `--last` uses only the 50 requests for which the ranking was not written. With `--sizes`, 500 and
2,000 tools are also listed by a process and scanned twice, and their share of the first request is measured with and
without all schemas.

Usage: python -m bench.tool_search [--misses] [--last] [--sizes]
"""

import argparse
import json
import re
import sys
import tempfile
import time
import tomllib
from pathlib import Path
from typing import Any, cast

import anyio
import msgspec

from hermes_acp.core.messages import ToolSchema
from hermes_acp.mcp.description_scans import DescriptionScans
from hermes_acp.mcp.server_definitions import ServerContext, StdioServer
from hermes_acp.mcp.server_pool import McpServerPool
from hermes_acp.mcp.tool_descriptions import ToolDescription
from hermes_acp.tools.deferred.deferral import DEFAULT_SCHEMA_TOKENS, deferred_tools, search_tools
from hermes_acp.tools.deferred.tool_catalog import catalog as listed_names
from hermes_acp.tools.deferred.tool_ranking import RankedTool, rank_tools
from hermes_acp.tools.deferred.tool_search import MAX_FURTHER_NAMES, MAX_RESULTS
from hermes_acp.tools.toolbox import Toolbox
from injection_scanner.foreign_text import InjectionScanner

SERVER = Path(__file__).parents[1] / "tests" / "contract" / "mcp_tool_lists.py"
UNSEEN = 50
DETAILS = (
    "Returns the matching records as JSON, newest first. Results come in pages of fifty; pass the cursor of the last "
    "page to get the next one. Fails with a clear message if the account may not do this."
)
DATA = Path(__file__).with_name("tool_search.toml")
_LINE = re.compile(r"(?P<name>\w+)\((?P<parameters>[^)]*)\): (?P<about>.*)")


def catalogue() -> list[RankedTool]:
    """Return the catalogue of tools as their servers list them."""
    return [RankedTool(tool.name, server, tool) for server, tools in listed_tools().items() for tool in tools]


def listed_tools() -> dict[str, list[ToolSchema]]:
    """Return each server's tools."""
    servers: dict[str, str] = tomllib.loads(DATA.read_text("utf-8"))["servers"]
    return {
        server: [_schema(line) for line in lines.strip().splitlines()] for server, lines in servers.items()
    }


def _schema(line: str) -> ToolSchema:
    found = _LINE.fullmatch(line)
    assert found, line
    names = [each.strip() for each in found["parameters"].split(",") if each.strip()]
    properties = {name.rstrip("?"): {"type": "string"} for name in names}
    required = [name for name in names if not name.endswith("?")]
    return ToolSchema(
        found["name"], found["about"], {"type": "object", "properties": properties, "required": required}
    )


def requests() -> list[tuple[str, list[str]]]:
    """Return the requests, each with the tools that answer it."""
    every: list[dict[str, Any]] = tomllib.loads(DATA.read_text("utf-8"))["requests"]
    return [(each["say"], each["tools"]) for each in every]


def main() -> None:
    """Print the rates."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--misses", action="store_true")
    arguments.add_argument("--sizes", action="store_true")
    arguments.add_argument("--last", action="store_true")
    options = arguments.parse_args()
    tools, asked = catalogue(), requests()[-UNSEEN:] if options.last else requests()
    first = found = named = 0
    slowest_s = 0.0
    for words, wanted in asked:
        began_s = time.perf_counter()
        numbers = rank_tools(tools, words, MAX_RESULTS + MAX_FURTHER_NAMES)
        slowest_s = max(slowest_s, time.perf_counter() - began_s)
        names = [f"{tools[number].server}.{tools[number].name}" for number in numbers]
        first += bool(names and names[0] in wanted)
        is_found = any(name in wanted for name in names[:MAX_RESULTS])
        found += is_found
        named += any(name in wanted for name in names)
        if options.misses and not is_found:
            print(f"missed: {words!r} wants {wanted[0]}, got {', '.join(names[:MAX_RESULTS])}")
    count = len(asked)
    print(f"{len(tools)} tools, {count} requests, {MAX_RESULTS} results a search")
    for what, answered in (("found", found), ("first", first), ("named", named)):
        print(f"{what}: {answered} ({answered / count:.0%})")
    print(f"slowest search: {slowest_s * 1000:.0f} ms")
    if options.sizes:
        for count in (500, 2000):
            anyio.run(measure, count)


def many_tools(count: int) -> list[dict[str, Any]]:
    """Return tools with descriptions and parameters as long as those of real servers."""
    listed: list[dict[str, Any]] = []
    for number in range(-(-count // 500)):
        for tool in catalogue():
            named = cast("dict[str, object]", tool.schema.parameters["properties"])
            properties = {
                name: {"type": "string", "description": f"The {name.replace('_', ' ')} to use, as text."}
                for name in named
            }
            name = f"{tool.name}_{number}" if number else tool.name
            listed.append(
                {
                    "name": name,
                    "description": f"{tool.schema.description} {DETAILS} Collection {number}.",
                    "inputSchema": {"type": "object", "properties": properties},
                }
            )
    return listed[:count]


class TimedScans:
    """Counts the CPU time of scans."""

    def __init__(self) -> None:
        scanner = InjectionScanner()
        scanner.clean("Load the tables.")
        self._scans = DescriptionScans(scanner.clean)
        self.cpu_s = 0.0

    def cleaned(self, said: ToolDescription) -> ToolDescription:
        """Scan one description."""
        began_s = time.thread_time()
        try:
            return self._scans.cleaned(said)
        finally:
            self.cpu_s += time.thread_time() - began_s


async def measure(count: int) -> None:
    """Let two sessions list the tools of one server each, and measure the size of a request."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "tools.json"
        file.write_text(json.dumps(many_tools(count)), "utf-8")
        scans = TimedScans()
        context = ServerContext(folder, (folder,), {}, Path(folder), str, clean_description=scans.cleaned)
        spec = StdioServer("many", sys.executable, (str(SERVER), str(file)))
        pool = McpServerPool((spec,), context, lambda: None)
        for session in ("first", "second"):
            pool = McpServerPool((spec,), context, lambda: None)
            scans.cpu_s, began_s, whole_s = 0.0, time.process_time(), 0.0
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(pool.run)
                await pool.settled()
                whole_s = time.process_time() - began_s
                await pool.close()
            print(
                f"{count} tools, {session} session: scan {scans.cpu_s * 1000:.0f} ms, "
                f"connect and list, scan included, {whole_s * 1000:.0f} ms of CPU"
            )
        _print_sizes(pool)


def _print_sizes(pool: McpServerPool) -> None:
    tools = dict(pool.tools())
    began_s = time.process_time()
    deferred = deferred_tools(tools, DEFAULT_SCHEMA_TOKENS)
    box = Toolbox({}).extended(tools | search_tools(deferred), deferred=deferred.keys())
    note = listed_names(box.deferred_schemas)
    spent_s = time.process_time() - began_s
    before = sum(len(msgspec.json.encode(tool.schema())) for tool in tools.values())
    after = len(msgspec.json.encode(box.schemas)) + len(msgspec.json.encode(note))
    print(
        f"{len(tools)} tools in a request: {before / 1000:.1f} kB with all schemas, {after / 1000:.1f} kB without"
    )
    print(f"deciding and listing them: {spent_s * 1000:.0f} ms of CPU per turn")


if __name__ == "__main__":
    main()
