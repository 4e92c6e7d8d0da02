"""Measure how often the search for deferred tools finds the right one.

`tool_search.toml` has the tools of 45 invented servers and 100 requests in a person's words. A request counts as
answered if one of its tools is among the results that one search returns. Options: `--misses` lists the others,
`--half even` takes only the requests with an even number.

Usage: python -m bench.tool_search [--misses] [--half even|odd|all]
"""

import argparse
import re
import time
import tomllib
from pathlib import Path
from typing import Any

from hermes_acp.core.messages import ToolSchema
from hermes_acp.tools.deferred.tool_ranking import RankedTool, rank_tools
from hermes_acp.tools.deferred.tool_search import MAX_RESULTS

DATA = Path(__file__).with_name("tool_search.toml")
_LINE = re.compile(r"(?P<name>\w+)\((?P<parameters>[^)]*)\): (?P<about>.*)")


def catalogue() -> list[RankedTool]:
    """Return the tools as their servers list them."""
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


def requests(half: str = "all") -> list[tuple[str, list[str]]]:
    """Return what people ask for, each with the tools that answer it."""
    every: list[dict[str, Any]] = tomllib.loads(DATA.read_text("utf-8"))["requests"]
    start, step = {"all": (0, 1), "even": (0, 2), "odd": (1, 2)}[half]
    return [(each["say"], each["tools"]) for each in every[start::step]]


def main() -> None:
    """Print the rates."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--misses", action="store_true")
    arguments.add_argument("--half", choices=("all", "even", "odd"), default="all")
    options = arguments.parse_args()
    tools, asked = catalogue(), requests(options.half)
    first = found = 0
    slowest_s = 0.0
    for words, wanted in asked:
        began_s = time.perf_counter()
        numbers = rank_tools(tools, words, MAX_RESULTS)
        slowest_s = max(slowest_s, time.perf_counter() - began_s)
        names = [f"{tools[number].server}.{tools[number].name}" for number in numbers]
        first += bool(names and names[0] in wanted)
        found += any(name in wanted for name in names)
        if options.misses and not any(name in wanted for name in names):
            print(f"missed: {words!r} wants {wanted[0]}, got {', '.join(names)}")
    count = len(asked)
    print(f"{len(tools)} tools, {count} requests, {MAX_RESULTS} results a search")
    print(f"found: {found} ({found / count:.0%})  first: {first} ({first / count:.0%})")
    print(f"slowest search: {slowest_s * 1000:.0f} ms")


if __name__ == "__main__":
    main()
