"""The `hermes-acp usage` command: show the usage of sessions, by day, model, workspace, profile or tool."""

import argparse
import sys
import time
from typing import Final

from hermes_acp.config.environment import read_environment
from hermes_acp.frontends.cli.cli_output import bold, escaped, local_time, note, print_json
from hermes_acp.frontends.cli.messages import command_messages
from hermes_acp.frontends.cli.usage import messages as usage_messages
from hermes_acp.natural_dates import read_range
from hermes_acp.storage.usage.usage_index import UsageTotal, total_of
from hermes_acp.storage.usage.usage_service import UsageService

DEFAULT_DAYS: Final = 30
DAY_S: Final = 86_400
BAR_CHARACTERS: Final = 24
BLOCKS: Final = " ▏▎▍▌▋▊▉█"
MIN_NOTED: Final = 2_000
"""The number of records from which on the progress of reading them is shown."""


def add_usage(parser: argparse.ArgumentParser) -> None:
    """Add the flags to the parser."""
    parser.add_argument(
        "--by",
        choices=("day", "model", "model-day", "workspace", "profile", "tool"),
        default="day",
        help=usage_messages.BY_HELP,
    )
    parser.add_argument("--since", default="", metavar="DATE", help=usage_messages.SINCE_HELP)
    parser.add_argument("--until", default="", metavar="DATE", help=usage_messages.UNTIL_HELP)
    parser.add_argument("--json", action="store_true", help=command_messages.JSON_HELP)


def run_usage(options: argparse.Namespace) -> int:
    """Print the usage and return the exit code. Raises BadRequest for an invalid date, or StorageError."""
    import anyio

    return anyio.run(_run, options)


async def _run(options: argparse.Namespace) -> int:
    since, until = read_range(options.since, options.until)
    if since is None:
        since = (until or time.time()) - (DEFAULT_DAYS - 1) * DAY_S
    days = (_day(since), _day(until - 1) if until else "9999")
    service = UsageService(read_environment(), shows_all_profiles=True)
    try:
        report = await service.report(options.by, days, _note_progress)
    finally:
        service.close()
    for sentence in (*report.news, *map(usage_messages.others_profile, report.left_out)):
        note(sentence)
    sums = report.sums
    if options.json:
        document = {"by": options.by, "since": days[0], "until": days[1] if until else None}
        print_json({**document, "usage": [_json(each, options.by) for each in sums]})
    elif sums:
        _print(sums, options.by)
    else:
        note(usage_messages.NOTHING_USED)
    return 0


def _note_progress(done: int, number: int) -> None:
    if number >= MIN_NOTED and sys.stderr.isatty():
        end = "\n" if done == number else ""
        sys.stderr.write(f"\r{usage_messages.reading(done, number)}{end}")


def _day(at: float) -> str:
    return local_time(at)[:10]


def _print(sums: list[UsageTotal], by: str) -> None:
    """Print a table with bars: for the cost if any is known, else for tokens; for tools, the number of calls."""
    is_tools = by == "tool"
    if by not in ("day", "model-day"):
        sums = sorted(sums, key=lambda each: -_weight(each, sums, is_tools=is_tools))
    total = total_of(usage_messages.TOTAL, sums)
    heads = usage_messages.TOOL_HEADS if is_tools else usage_messages.MODEL_HEADS
    rows = [(_name(each.name, by), *_cells(each, is_tools=is_tools)) for each in (*sums, total)]
    widths = [max(len(row[column]) for row in ((by, *heads), *rows)) for column in range(len(heads) + 1)]
    print(bold(_line((by, *heads), widths)))
    most = max(_weight(each, sums, is_tools=is_tools) for each in sums)
    for each, row in zip(sums, rows, strict=False):
        share = _weight(each, sums, is_tools=is_tools) / most if most else 0.0
        print(f"{_line(row, widths)}  {_bar(share)}".rstrip())
    print(_line(rows[-1], widths))
    if is_tools:
        note(usage_messages.ESTIMATED)


def _json(each: UsageTotal, by: str) -> dict[str, object]:
    """Format a row as a line of JSON; an unknown cost is null."""
    if by == "tool":
        return {
            "name": each.name,
            "calls": each.requests,
            "failed": each.failed,
            "took_s": round(each.took_s, 3),
            "result_tokens": each.output_tokens,
        }
    return {
        "name": each.name,
        "requests": each.requests,
        "input_tokens": each.input_tokens,
        "cached_tokens": each.cached_tokens,
        "output_tokens": each.output_tokens,
        "cost_usd": each.cost_usd or None,
    }


def _name(name: str, by: str) -> str:
    missing = usage_messages.UNDATED if by == "day" else usage_messages.UNKNOWN
    return " ".join(escaped(name).split()) or missing


def _cells(each: UsageTotal, *, is_tools: bool) -> tuple[str, ...]:
    if is_tools:
        took = usage_messages.seconds(each.took_s)
        return f"{each.requests:,}", f"{each.failed:,}", took, f"{each.output_tokens:,}"
    cached = usage_messages.share(each.cached_tokens, each.input_tokens)
    cost = usage_messages.cost(each.cost_usd) if each.cost_usd else "-"
    return f"{each.requests:,}", f"{each.input_tokens:,}", cached, f"{each.output_tokens:,}", cost


def _weight(each: UsageTotal, sums: list[UsageTotal], *, is_tools: bool) -> float:
    if is_tools:
        return each.requests
    if any(one.cost_usd for one in sums):
        return each.cost_usd
    return each.input_tokens + each.output_tokens


def _line(cells: tuple[str, ...], widths: list[int]) -> str:
    first, *rest = cells
    return "  ".join(
        (first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True)))
    )


def _bar(share: float) -> str:
    eighths = round(share * BAR_CHARACTERS * 8)
    return "█" * (eighths // 8) + BLOCKS[eighths % 8].strip()
