"""The `hermes-acp logs` command: show past activity, newest last, and follow new activity."""

import argparse
import sys
import time
from functools import partial
from pathlib import Path
from typing import Final

import anyio
import msgspec
from anyio.to_thread import run_sync

from hermes_acp.config.environment import read_environment
from hermes_acp.config.settings import load_variables
from hermes_acp.frontends.cli.cli_output import bold, escaped, local_time, note
from hermes_acp.frontends.cli.logs import messages as log_messages
from hermes_acp.natural_dates import read_range
from hermes_acp.sessions.activity.home_log import HomeLog, LogFilter
from hermes_acp.sessions.activity.log_entries import LogEntry
from hermes_acp.sessions.stored_sessions import StoredSessions
from hermes_acp.storage.session_store import SessionStore
from hermes_acp.telemetry.redaction import Redactor, secrets_among

BESIDE: Final = Path("beside")
MIN_INTERVAL_S: Final = 0.5
MAX_SHARE: Final = 0.05
"""The maximum fraction of the time that `--follow` may spend on checking for changes."""


def run_logs(options: argparse.Namespace) -> int:
    """Print the entries and return the exit code. Raises BadRequest or SessionNotFound."""
    return anyio.run(_run, options)


async def _run(options: argparse.Namespace) -> int:
    since, until = read_range(options.since, options.until)
    environment = read_environment()
    session = _session_named(environment.home, options.session)
    wanted = LogFilter(tuple(options.kind), session, since or 0.0, until)
    log = HomeLog(environment.home, Redactor(secrets_among(load_variables(environment))).clean)
    started_at = time.time()
    seen = await run_sync(log.watched) if options.follow else {}
    entries = await run_sync(log.newest, wanted, options.limit)
    for entry in entries:
        _print(entry, as_json=options.json)
    if log.damaged:
        note(log_messages.damaged(log.damaged))
    if options.follow:
        await _follow(
            log, wanted, seen, max(started_at, entries[-1].at if entries else 0.0), as_json=options.json
        )
    elif not entries and not options.json:
        note(log_messages.NO_ENTRIES)
    return 0


def _session_named(home: Path, named: str) -> str:
    return StoredSessions(SessionStore(home)).find(named) if named else ""


async def _follow(
    log: HomeLog, wanted: LogFilter, seen: dict[Path, tuple[float, int]], since: float, *, as_json: bool
) -> None:
    """Print new entries continuously. An entry is identified by its file and its position there."""
    printed: dict[Path, int] = {}
    while True:
        sys.stdout.flush()
        began_s = time.monotonic()
        present = await run_sync(log.watched)
        looked_s = time.monotonic() - began_s
        changed = [path for path, state in present.items() if seen.get(path) != state]
        seen = present
        if changed:
            for entry in await run_sync(partial(_new_entries, log, changed, printed, since)):
                if wanted.takes(entry):
                    _print(entry, as_json=as_json)
            sys.stdout.flush()
        await anyio.sleep(max(MIN_INTERVAL_S, looked_s / MAX_SHARE))


def _new_entries(log: HomeLog, changed: list[Path], printed: dict[Path, int], since: float) -> list[LogEntry]:
    """Return the new entries of changed files; in a file that is new itself, those after the time `since`."""
    places = {path if log.is_record(path) else BESIDE for path in changed}
    found: list[LogEntry] = []
    for place in places:
        entries = log.beside_records() if place == BESIDE else log.entries_of(place)
        known = printed.get(place)
        if known is None:
            known = sum(entry.at <= since for entry in entries)
        found += entries[known:]
        printed[place] = len(entries)
    return sorted(found, key=lambda entry: entry.at)


def _print(entry: LogEntry, *, as_json: bool) -> None:
    if as_json:
        print(msgspec.json.encode(entry).decode())
        return
    took = log_messages.took(entry.took_s) if entry.took_s is not None else ""
    facts = " ".join(f"{name}={_value(value)}" for name, value in entry.facts.items())
    who = f"{log_messages.OF} {entry.who}" if entry.kind in ("change", "approval") and entry.who else ""
    parts = (bold(entry.kind.ljust(9)), entry.session, entry.what, entry.outcome, took, who, facts)
    line = "  ".join(filter(None, (local_time(entry.at, with_seconds=True), *parts)))
    print(" ".join(escaped(line).split("\n")))


def _value(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)
