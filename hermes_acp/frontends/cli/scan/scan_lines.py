"""The `hermes-acp scan --jsonl` command: answer each line of JSON with one line of JSON, for programs.

Each line is answered immediately. For a fast start, only what the first answer needs is imported.
"""

import os
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, BinaryIO, Final

import msgspec

from hermes_acp.frontends.cli.messages import scan_messages
from injection_scanner.findings import Finding
from injection_scanner.scanner import scan

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor

MIN_PARALLEL_LINES: Final = 600_000
"""If this many bytes are available without waiting, the remaining input is distributed among processes."""

BATCH: Final = 100_000
READ_BYTES: Final = 1 << 20
MAX_BATCHES_AHEAD: Final = 3


class ScanRequest(msgspec.Struct, frozen=True):
    """One line of `--jsonl`: text to scan, and the ID that the answer repeats."""

    id: str | int
    text: str


class ScanAnswer(msgspec.Struct, frozen=True):
    """The result for one text."""

    id: str | int
    verdict: str
    categories: tuple[str, ...]
    findings: tuple[Finding, ...]


class BadLine(msgspec.Struct, frozen=True):
    """The answer to an invalid line; `line` is its number, counted from 1."""

    line: int
    error: str


def scan_lines() -> int:
    """Answer the lines of standard input until it ends; return the exit code. If the reader leaves, end silently.

    A client that waits for each answer gets it at once. Bulk input is scanned on all processors.
    """
    try:
        answer_stream(sys.stdin.fileno(), sys.stdout.buffer, processes=os.cpu_count() or 1)
    except BrokenPipeError:
        sys.stderr.close()
    return 0


def answer_stream(descriptor: int, answers: BinaryIO, *, processes: int) -> None:
    """Answer the lines from a descriptor, in order."""
    number, waiting = 1, 0
    lines: list[bytes] = []
    stream = whole_lines(descriptor)
    for chunk in stream:
        lines += chunk
        waiting = waiting + sum(map(len, chunk)) if is_ready(descriptor) else 0
        if waiting >= MIN_PARALLEL_LINES and processes > 1:
            break
        answer_lines(lines, answers, number)
        number += len(lines)
        lines = []
    else:
        return
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    with ProcessPoolExecutor(processes, mp_context=get_context("fork")) as pool:
        BatchQueue(pool, answers, processes).answer(stream, descriptor, lines, number)


class BatchQueue:
    """Sends batches of lines to other processes, and returns their answers in order."""

    def __init__(self, pool: "ProcessPoolExecutor", answers: BinaryIO, processes: int) -> None:
        self.pool = pool
        self.answers = answers
        self.most = processes * MAX_BATCHES_AHEAD
        self.under_way: deque[Future[bytes]] = deque()

    def answer(self, stream: Iterator[list[bytes]], descriptor: int, lines: list[bytes], number: int) -> None:
        """Distribute these lines, the first of which has this number, and all later lines of the descriptor."""
        size_bytes = sum(map(len, lines))
        for chunk in stream:
            lines += chunk
            size_bytes += sum(map(len, chunk))
            if size_bytes < BATCH and is_ready(descriptor):
                continue
            number = self._send(lines, number)
            lines, size_bytes = [], 0
            self._receive(self.most if is_ready(descriptor) else 0)
        self._send(lines, number)
        self._receive(0)

    def _send(self, lines: list[bytes], number: int) -> int:
        if lines:
            self.under_way.append(self.pool.submit(answer_batch, lines, number))
        return number + len(lines)

    def _receive(self, most: int) -> None:
        """Write answers until at most `most` batches are pending."""
        while len(self.under_way) > most or (self.under_way and self.under_way[0].done()):
            self.answers.write(self.under_way.popleft().result())
            self.answers.flush()


def whole_lines(descriptor: int) -> Iterator[list[bytes]]:
    """Read a descriptor to its end, yielding complete lines as soon as they arrive."""
    rest: list[bytes] = []
    while chunk := os.read(descriptor, READ_BYTES):
        head, mark, tail = chunk.rpartition(b"\n")
        if not mark:
            rest.append(chunk)
            continue
        yield b"".join((*rest, head)).split(b"\n")
        rest = [tail] if tail else []
    if rest:
        yield [b"".join(rest)]


def is_ready(descriptor: int) -> bool:
    """Return whether more input can be read without waiting."""
    from select import select

    return bool(select([descriptor], [], [], 0)[0])


def answer_batch(lines: list[bytes], number: int) -> bytes:
    """Answer some lines, the first of which has this number."""
    from io import BytesIO

    found = BytesIO()
    answer_lines(lines, found, number)
    return found.getvalue()


def answer_lines(questions: Iterable[bytes], answers: BinaryIO, first: int = 1) -> None:
    """Answer each line at once with one line, even an invalid one."""
    decoder, encoder = msgspec.json.Decoder(ScanRequest), msgspec.json.Encoder()
    for number, line in enumerate(questions, first):
        if not line.strip():
            continue
        try:
            asked = decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            answer: ScanAnswer | BadLine = _rescue(line, number, str(error))
        else:
            answer = judge(asked.id, asked.text)
        answers.write(encoder.encode(answer) + b"\n")
        answers.flush()


def judge(text_id: str | int, text: str) -> ScanAnswer:
    """Scan a text and build the answer."""
    report = scan(text)
    return ScanAnswer(text_id, report.verdict, report.categories, report.findings)


def _rescue(line: bytes, number: int, error: str) -> ScanAnswer | BadLine:
    """Parse a line as leniently as the standard library, which accepts lone surrogates and invalid bytes."""
    import json

    try:
        found = json.loads(line.decode("utf-8", "replace"))
        asked = msgspec.convert(
            {
                "id": found["id"],
                "text": found["text"].encode("utf-16", "surrogatepass").decode("utf-16", "replace"),
            },
            ScanRequest,
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, msgspec.ValidationError):
        return BadLine(number, scan_messages.bad_line(error))
    return judge(asked.id, asked.text)
