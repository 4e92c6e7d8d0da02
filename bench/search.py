"""Measure a store with a million messages: search, append and open, each compared with a floor from the same run.

Run: python -m bench.search [MESSAGES] [FOLDER]
The store is written through the real transcripts and indexed by the real index. Search words are drawn by their
frequency in the messages, so many searches are for very common words. The floors are: for a search, SQLite's own
unbounded ranked query over the same index; for an append, writing and syncing the same bytes; for opening a session,
reading its file.
"""

import os
import random
import shutil
import sqlite3
import statistics
import sys
import tempfile
import time
from bisect import bisect
from collections.abc import Callable, Iterator
from functools import partial
from itertools import accumulate
from pathlib import Path

import anyio

from hermes_acp.core.events import (
    CallEnded,
    CallProposed,
    CallStarted,
    Event,
    SessionOpened,
    StepEnded,
    TextSaid,
    TitleChanged,
    TurnEnded,
    TurnStarted,
    UserSaid,
)
from hermes_acp.core.messages import TextPart, ToolCall
from hermes_acp.core.ports.recall_ports import RecallQuery
from hermes_acp.core.record.session_record import Record
from hermes_acp.storage.search.search_queries import parse
from hermes_acp.storage.search.search_tables import place_of
from hermes_acp.storage.session_store import SessionStore
from hermes_acp.storage.transcript import Transcript

MESSAGES_A_SESSION = 400
MESSAGES_A_TURN = 4
WORKSPACES = 40
LONG_SESSION_MESSAGES = 10_000
SEARCHES = 600
GOAL_SEARCH_MS, GOAL_OPEN_MS, GOAL_APPEND_MS = 20.0, 150.0, 1.0
BEGAN_AT = 1_700_000_000.0
SYLLABLES = tuple(consonant + vowel for consonant in "bcdfghklmnprstvz" for vowel in "aeiou")


class Words:
    """Words with a Zipf distribution, as in natural language: the frequency of the n-th word is about 1/n."""

    def __init__(self, seed: int, size: int = 50_000) -> None:
        self.random = random.Random(seed)
        found: dict[str, None] = {}
        while len(found) < size:
            found["".join(self.random.choices(SYLLABLES, k=self.random.choice((1, 2, 2, 3, 3, 4, 5))))] = None
        self._words = list(found)
        self._weights = list(accumulate(1 / (rank + 2.7) for rank in range(size)))

    def some(self, count: int) -> str:
        total = self._weights[-1]
        drawn = self.random.random
        return " ".join(self._words[bisect(self._weights, drawn() * total)] for _ in range(count))


def turn_events(words: Words, number: int) -> Iterator[tuple[Event, bool]]:
    """Return the events of a turn with four messages, each with a flag for whether it is synced to disk."""
    draw = words.random.choice
    yield TurnStarted(f"turn_{number}"), False
    yield UserSaid(f"msg_{number}", (TextPart(words.some(draw((4, 8, 16, 40)))),)), True
    for _ in range(3):
        yield TextSaid(f"msg_{number}a", words.some(draw((3, 6, 12))) + " "), False
    call = ToolCall(f"call_{number}", "read_file", '{"path":"src/a.py"}')
    yield StepEnded(f"msg_{number}a", (call,)), False
    yield CallProposed(call.id, call.name, f"Read src/{words.some(1)}.py", "read", {"path": "src/a.py"}), True
    yield CallStarted(call.id), False
    yield CallEnded(call.id, call.name, "completed", words.some(draw((10, 40, 80)))), True
    for _ in range(3):
        yield TextSaid(f"msg_{number}b", words.some(draw((4, 8, 24))) + " "), False
    yield StepEnded(f"msg_{number}b"), False
    yield TurnEnded(f"turn_{number}", "done"), True


def workspace(number: int) -> str:
    return f"/projects/number-{number % WORKSPACES}"


def write_session(store: SessionStore, words: Words, number: int, messages: int) -> str:
    session_id = f"ses_{number:06}"
    transcript = store.create(session_id)
    cwd = workspace(number)
    began_at = BEGAN_AT + number * 3600
    transcript.append(SessionOpened(session_id, cwd, (cwd,), began_at))
    transcript.append(TitleChanged(words.some(5)))
    for turn in range(messages // MESSAGES_A_TURN):
        for event, _ in turn_events(words, turn):
            transcript.append(event)
    transcript.close()
    os.utime(transcript.path, (began_at + 1800, began_at + 1800))
    return session_id


def queries(words: Words, texts: list[str]) -> Iterator[tuple[str, RecallQuery]]:
    """Yield random searches of each kind in turn."""
    draw = words.random
    for number in range(SEARCHES):
        cwd = workspace(draw.randrange(WORKSPACES)) if number % 2 else None
        said = draw.choice(texts).split()
        start = draw.randrange(max(1, len(said) - 3))
        kind, text = (
            ("one word", draw.choice(said)),
            ("two words", " ".join(draw.sample(said, min(2, len(said))))),
            ("three words", " ".join(draw.sample(said, min(3, len(said))))),
            ("a phrase", f'"{" ".join(said[start : start + 3])}"'),
            ("a begin*", f"{draw.choice(said)[: draw.choice((2, 3, 4, 5))]}*"),
            ("nothing there", f"{draw.choice(said)} qqxyzzy"),
        )[number // 2 % 6]
        yield kind, RecallQuery(text, cwd)


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def timed_ms(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return (time.perf_counter() - begun) * 1000


def _rank_all(connection: sqlite3.Connection, expression: str) -> list[object]:
    sql = "SELECT rowid, snippet(words, 0, '', '', '', 16) FROM words WHERE words MATCH ? ORDER BY rank LIMIT 20"
    return connection.execute(sql, (expression,)).fetchall()


async def bench_search(store: SessionStore, words: Words, texts: list[str]) -> bool:
    """Run all our searches, then the floor's, because alternating would make ours recheck the records each time."""
    drawn = list(queries(words, texts))
    ours: dict[str, list[float]] = {}
    cpu_ms: list[float] = []
    for kind, asked in drawn:
        begun, begun_cpu = time.perf_counter(), time.process_time()
        await store.words.search(asked)
        ours.setdefault(kind, []).append((time.perf_counter() - begun) * 1000)
        cpu_ms.append((time.process_time() - begun_cpu) * 1000)
    plain = sqlite3.connect(f"file:{store.folder.parent}/search.db?mode=ro", uri=True)
    floor: dict[str, list[float]] = {}
    for kind, asked in drawn:
        expression = parse(asked.text).expression()
        if asked.cwd:
            expression = f'"{place_of(asked.cwd)}" AND {expression}'
        floor.setdefault(kind, []).append(timed_ms(partial(_rank_all, plain, expression)))
    plain.close()
    ours["all"] = [value for values in ours.values() for value in values]
    floor["all"] = [value for values in floor.values() for value in values]
    print(f"{'search, ms':16} {'p50':>8} {'p95':>8} {'max':>8}   plain FTS5 p50      p95   ours/plain p95")
    for kind, values in ours.items():
        p95, plain_p95 = percentile(values, 0.95), percentile(floor[kind], 0.95)
        print(
            f"{kind:16} {statistics.median(values):8.2f} {p95:8.2f} {max(values):8.2f}   "
            f"{statistics.median(floor[kind]):14.2f} {plain_p95:8.2f}   {p95 / plain_p95:14.2f}"
        )
    print(f"CPU: p50 {statistics.median(cpu_ms):.2f}, p95 {percentile(cpu_ms, 0.95):.2f}")
    return percentile(ours["all"], 0.95) <= GOAL_SEARCH_MS


async def bench_append(folder: Path, words: Words) -> bool:
    """Append turns with the real sync points; the time of a synced event includes the sync."""
    transcript = Transcript.create(folder / "append.jsonl")
    every: list[float] = []
    synced: list[float] = []
    plain_synced: list[float] = []
    descriptor = os.open(folder / "plain", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for turn in range(150):
        for event, is_synced in turn_events(words, turn):
            before = transcript.path.stat().st_size
            begun = time.perf_counter()
            transcript.append(event)
            if is_synced:
                await transcript.settle()
            every.append((time.perf_counter() - begun) * 1000)
            if is_synced:
                synced.append(every[-1])
                line = b"x" * (transcript.path.stat().st_size - before)
                plain_synced.append(
                    timed_ms(lambda line=line: (os.write(descriptor, line), os.fdatasync(descriptor)))
                )
    os.close(descriptor)
    transcript.close()
    median, median_synced, plain = map(statistics.median, (every, synced, plain_synced))
    print(
        f"append, ms: median {median:.4f}, p95 {percentile(every, 0.95):.3f}; of the synced ones median "
        f"{median_synced:.3f}; write and fdatasync alone {plain:.3f}; ratio {median_synced / plain:.2f}"
    )
    return median <= GOAL_APPEND_MS


def bench_open(store: SessionStore, words: Words) -> bool:
    session_id = write_session(store, words, 999_999, LONG_SESSION_MESSAGES)
    path = store.path_of(session_id)

    def load() -> None:
        transcript, events, _ = Transcript.reopen(path)
        record = Record()
        for event in events:
            record.apply(event)
        transcript.close()
        if len(record.messages) != LONG_SESSION_MESSAGES:
            raise RuntimeError(f"{len(record.messages)} messages were loaded")

    cpu_ms: list[float] = []

    def load_counted() -> None:
        begun = time.process_time()
        load()
        cpu_ms.append((time.process_time() - begun) * 1000)

    ours = [timed_ms(load_counted) for _ in range(15)]
    plain = [timed_ms(path.read_bytes) for _ in range(15)]
    median, floor = statistics.median(ours), statistics.median(plain)
    size_mb = path.stat().st_size / 1e6
    print(
        f"open {LONG_SESSION_MESSAGES:,} messages ({size_mb:.1f} MB), ms: median {median:.1f}, of the processor "
        f"{statistics.median(cpu_ms):.1f}, max {max(ours):.1f}; reading the file alone {floor:.2f}; ratio "
        f"{median / floor:.0f}"
    )
    path.unlink()
    return median <= GOAL_OPEN_MS


async def run(messages: int, home: Path) -> bool:
    words = Words(1)
    store = SessionStore(home)
    begun = time.perf_counter()
    for number in range(messages // MESSAGES_A_SESSION):
        write_session(store, words, number, MESSAGES_A_SESSION)
    size_mb = sum(path.stat().st_size for path in store.folder.iterdir()) / 1e6
    print(f"wrote {messages:,} messages, {size_mb:,.0f} MB, in {time.perf_counter() - begun:.0f} s")
    begun = time.perf_counter()
    await store.words.catch_up()
    taken_s = time.perf_counter() - begun
    size_mb = (home / "search.db").stat().st_size / 1e6
    print(f"indexed them in {taken_s:.0f} s ({messages / taken_s:,.0f} a second), {size_mb:,.0f} MB")
    store.close()
    store = SessionStore(home)
    asked = RecallQuery("qqxyzzy")
    first_ms = await _first(store, asked)
    print(
        f"first search of a process, including a check of {messages // MESSAGES_A_SESSION:,} records: {first_ms:.1f} ms"
    )
    sample = sqlite3.connect(f"file:{home}/search.db?mode=ro", uri=True)
    texts = [
        row[0]
        for (key,) in sample.execute(
            "SELECT number << 24 FROM records ORDER BY number % 997 LIMIT 500"
        ).fetchall()
        for row in sample.execute("SELECT text FROM passages WHERE key > ? LIMIT 4", (key,))
    ]
    sample.close()
    held = [await bench_search(store, words, texts)]
    held.append(await bench_append(home, words))
    held.append(bench_open(store, words))
    store.close()
    return all(held)


async def _first(store: SessionStore, asked: RecallQuery) -> float:
    begun = time.perf_counter()
    await store.words.search(asked)
    return (time.perf_counter() - begun) * 1000


def main() -> None:
    messages = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    folder = tempfile.mkdtemp(prefix="hermes-search-", dir=sys.argv[2] if len(sys.argv) > 2 else None)
    try:
        held = anyio.run(run, messages, Path(folder))
    finally:
        shutil.rmtree(folder)
    print(
        f"goals: search p95 {GOAL_SEARCH_MS:g} ms, append median {GOAL_APPEND_MS:g} ms, open {GOAL_OPEN_MS:g} ms: "
        f"{'held' if held else 'MISSED'}"
    )
    sys.exit(0 if held else 1)


if __name__ == "__main__":
    main()
