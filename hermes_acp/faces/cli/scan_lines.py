"""hermes-acp scan --jsonl: a line in, a line out, for programs.

Knows: the lines' fields, and that each is answered at once. Does not know: how a text is judged.
It starts fast: nothing is imported here that a first answer does not need.
"""

import sys
from collections.abc import Iterable
from typing import BinaryIO

import msgspec

from hermes_acp.knowledge.injection import Finding, scan


class Asked(msgspec.Struct, frozen=True):
    """One line of `--jsonl`: a text to judge, and the id the answer repeats."""

    id: str | int
    text: str


class Answer(msgspec.Struct, frozen=True):
    """What is said of one text."""

    id: str | int
    verdict: str
    categories: tuple[str, ...]
    findings: tuple[Finding, ...]


class BadLine(msgspec.Struct, frozen=True):
    """What is said of a line that is no question; `line` counts from 1."""

    line: int
    error: str


def scan_lines() -> int:
    """Answer standard input until it ends; give the exit code. A reader that left ends it without a word."""
    try:
        answer_lines(sys.stdin.buffer, sys.stdout.buffer)
    except BrokenPipeError:
        sys.stderr.close()
    return 0


def answer_lines(questions: Iterable[bytes], answers: BinaryIO) -> None:
    """Answer each line with a line, at once; a line that is no question is answered as such."""
    decoder, encoder = msgspec.json.Decoder(Asked), msgspec.json.Encoder()
    for number, line in enumerate(questions, 1):
        if not line.strip():
            continue
        try:
            asked = decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            answer: Answer | BadLine = _rescue(line, number, str(error))
        else:
            answer = judge(asked.id, asked.text)
        answers.write(encoder.encode(answer) + b"\n")
        answers.flush()


def judge(text_id: str | int, text: str) -> Answer:
    """Scan one text and word the answer."""
    report = scan(text)
    return Answer(text_id, report.verdict, report.categories, report.findings)


def _rescue(line: bytes, number: int, error: str) -> Answer | BadLine:
    """Read a line as leniently as the standard library does: lone surrogates, odd bytes."""
    import json

    try:
        found = json.loads(line.decode("utf-8", "replace"))
        asked = msgspec.convert(
            {
                "id": found["id"],
                "text": found["text"].encode("utf-16", "surrogatepass").decode("utf-16", "replace"),
            },
            Asked,
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, msgspec.ValidationError):
        return BadLine(number, f"It is no JSON object with `id` and `text`: {error}")
    return judge(asked.id, asked.text)
