"""The injection scanner: reads a context file before the model does, and cuts out what attacks it.

Knows: rules as data (`rules.toml`), lines, what to cut. Does not know: files, sessions, who is told.
It is a filter, not a boundary: permission for every effect is still asked elsewhere. Every pass is linear.
Source: OWASP LLM01:2025 (prompt injection); Trojan Source (CVE-2021-42574).
"""

import re
import tomllib
from base64 import b64decode
from binascii import Error as BadEncoding
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Literal
from urllib.parse import unquote

from msgspec import Struct, convert, structs

from hermes_acp.knowledge.folding import Folded, fold, fold_pattern
from hermes_acp.knowledge.hidden_characters import reveal, show

Severity = Literal["info", "warn", "block"]

LONGEST_CUT = 4000
MIXED_WORDS = 3
COMMENT = re.compile(r"<!--|\{\{/\*|(?m:^\[[\w/ ]{1,20}\]: ?(?:#|<>) ?[(\"'])")
CONCEALED = re.compile(
    r"<(?:template|noscript)\b[^<>]{0,200}>|<\w{1,12}\b[^<>]{0,200}"
    r"(?:display ?: ?none|visibility ?: ?hidden|opacity ?: ?0(?![.\d])|font-size ?: ?0"
    r"|(?:left|top) ?: ?-\d{3,}"
    r"|color ?: ?(?:#fff\b|white)[^<>]{0,60}background[\w-]{0,6} ?: ?(?:#fff\b|white)"
    r"|\shidden\b|aria-hidden|width=\"0\"|type=\"text/plain)[^<>]{0,200}>|<summary></summary>"
)
ENCODED = re.compile(
    r"(?P<base64>(?<![\w+/])[A-Za-z0-9+/_-]{32,}={0,2})|(?P<percent>(?:%[0-9A-Fa-f]{2}){12,})"
    r"|(?P<slash>(?:\\x[0-9A-Fa-f]{2}){12,})|(?P<unicode>(?:\\u00[0-9A-Fa-f]{2}){12,})"
)
HEX = re.compile(r"(?:[0-9a-fA-F]{2}){16,}")
WARNED = re.compile(
    r"\b(?:never|not|don't|avoid|cannot|can't|won't|refuse to|without|nor|should not|must not)"
    r"(?:,? (?:(?!hesitate|fail|forget|only|worry)\w{1,12},? ){0,3}| )$"
)
SPOKEN_OF = re.compile(
    r"(?<![@./-])\b(?:prompt.)?(?:inject|attack(?!er\.)|jailbreak|malicious|untrusted|adversar|such as\b"
    r"|e\.g\.|(?:phrases?|text|prompts?) like\b|detect|payload|exploit|attempt|red.?team|suspicious|is data\b"
    r"|for example\b|hijack)"
)
OPENING = frozenset("\"'`\u201c\u2018\u00ab\u300c\u201e")


class Finding(Struct, frozen=True):
    """One thing the scanner saw; `line` counts from 1 in the text as it was given."""

    rule: str
    severity: Severity
    line: int
    excerpt: str
    why: str


class ScanReport(Struct, frozen=True):
    """What was found, and the text with blocked passages and hidden characters taken out."""

    findings: tuple[Finding, ...]
    clean_text: str


class Rule(Struct, frozen=True, forbid_unknown_fields=True):
    """One rule. Without a `pattern` it names a judgement about characters; `rules.toml` explains the rest."""

    id: str
    severity: Severity
    why: str
    example: str
    counter_example: str
    pattern: str = ""
    needs: tuple[str, ...] = ()
    hidden: bool = False
    quotable: bool = True


class RuleFile(Struct, frozen=True, forbid_unknown_fields=True):
    """The shape of `rules.toml`."""

    fragments: dict[str, str]
    rule: tuple[Rule, ...]


class Rulebook(Struct, frozen=True):
    """All rules by id, and each word rule's compiled pattern."""

    rules: dict[str, Rule]
    patterns: dict[str, re.Pattern[str]]


class Passage(Struct, frozen=True):
    """A stretch of the visible text to cut, for one rule."""

    start: int
    end: int
    rule: str
    line: int


@cache
def load_rulebook() -> Rulebook:
    """Read and compile the rules once."""
    source = Path(__file__).with_name("rules.toml").read_text("utf-8")
    book = convert(tomllib.loads(source), RuleFile)
    patterns: dict[str, re.Pattern[str]] = {}
    for rule in book.rule:
        pattern = rule.pattern
        while "<<" in pattern and (name := re.search(r"<<(\w+)>>", pattern)) and name[1] in book.fragments:
            pattern = pattern.replace(name[0], book.fragments[name[1]])
        if pattern:
            patterns[rule.id] = re.compile(fold_pattern(pattern))
    folded = (structs.replace(rule, needs=tuple(map(fold_pattern, rule.needs))) for rule in book.rule)
    return Rulebook({rule.id: rule for rule in folded}, patterns)


def scan(text: str) -> ScanReport:
    """Judge a whole text and clean it. Costs time linear in its length; never fails."""
    return Scan(text, load_rulebook()).report()


class Scan:
    """One text on its way through the rules."""

    def __init__(self, text: str, book: Rulebook) -> None:
        self.book = book
        self.revealed = reveal(text)
        self.text = self.revealed.text
        self.line_starts = [0, *(found.end() for found in re.finditer("\n", self.text))]
        self.findings: list[Finding] = []
        self.passages: list[Passage] = []

    def report(self) -> ScanReport:
        """Run every pass and gather what came of them."""
        for sighting in self.revealed.sightings:
            self._find(sighting.rule, sighting.line, sighting.excerpt)
            if sighting.cuts_line:
                self._cut(sighting.rule, *self._line_span(sighting.line), sighting.line)
        folded = fold(self.text)
        self._judge_mixed(folded)
        for rule_id, start, end, severity in judge_words(folded.text, self.book):
            self._note(rule_id, folded.origin(start), folded.origin(end), severity)
        self._judge_encoded()
        self.findings.sort(key=lambda finding: (finding.line, finding.rule))
        return ScanReport(tuple(self.findings), self._clean())

    def _find(self, rule_id: str, line: int, excerpt: str, severity: Severity | None = None) -> None:
        rule = self.book.rules[rule_id]
        self.findings.append(Finding(rule_id, severity or rule.severity, line, excerpt, rule.why))

    def _note(self, rule_id: str, start: int, end: int, severity: Severity) -> None:
        line = self._line_of(start)
        self._find(rule_id, line, show(self.text[start : max(end, start + 1)]), severity)
        if severity == "block":
            first, _ = self._line_span(line)
            _, last = self._line_span(self._line_of(max(start, end - 1)))
            self._cut(rule_id, max(first, start - LONGEST_CUT), min(last, end + LONGEST_CUT), line)

    def _cut(self, rule_id: str, start: int, end: int, line: int) -> None:
        self.passages.append(Passage(start, end, rule_id, line))

    def _line_of(self, offset: int) -> int:
        return bisect_right(self.line_starts, offset)

    def _line_span(self, line: int) -> tuple[int, int]:
        start = self.line_starts[line - 1]
        end = self.line_starts[line] - 1 if line < len(self.line_starts) else len(self.text)
        return start, end

    def _judge_mixed(self, folded: Folded) -> None:
        lines: dict[int, set[str]] = {}
        for offset in folded.mixed:
            word = re.compile(r"\w{0,40}").match(self.text, max(0, offset - 1))
            lines.setdefault(self._line_of(offset), set()).add(word.group() if word else "")
        for line, words in lines.items():
            if len(words) >= MIXED_WORDS:
                start, end = self._line_span(line)
                self._find("mixed-alphabets", line, show(self.text[start:end]))
                self._cut("mixed-alphabets", start, end, line)

    def _judge_encoded(self) -> None:
        for found in ENCODED.finditer(self.text):
            decoded = decode_blob(found)
            hits = judge_words(fold(reveal(decoded).text).text, self.book) if decoded else ()
            if any(severity == "block" for *_, severity in hits):
                self._note("encoded-order", found.start(), found.end(), "block")

    def _clean(self) -> str:
        pieces: list[str] = []
        last = 0
        for passage in sorted(self.passages, key=lambda each: (each.start, -each.end)):
            if passage.end <= last:
                continue
            start = max(passage.start, last)
            pieces += (self.text[last:start], mark_removed(passage.rule, passage.line))
            last = passage.end
        pieces.append(self.text[last:])
        return "".join(pieces)


def mark_removed(rule_id: str, line: int) -> str:
    """Word the mark that stands where a passage was cut."""
    return f"[removed by the injection scanner: {rule_id}, line {line}]"


def judge_words(text: str, book: Rulebook) -> Iterator[tuple[str, int, int, Severity]]:
    """Run the word rules over folded text; give rule, start, end and the severity left."""
    regions = find_hidden_regions(text)
    for rule_id, pattern in book.patterns.items():
        rule = book.rules[rule_id]
        if rule.hidden:
            for start, end in regions:
                if pattern.search(text, start, end):
                    yield rule_id, start, end, rule.severity
        elif any(word in text for word in rule.needs):
            for found in pattern.finditer(text):
                yield rule_id, found.start(), found.end(), weigh(text, found, rule)


def weigh(text: str, found: re.Match[str], rule: Rule) -> Severity:
    """Lower a severity where the text warns of the thing or quotes it as an example."""
    if not rule.quotable or rule.severity == "info":
        return rule.severity
    before = text[max(0, found.start() - 200) : found.start()]
    same_block = before.rpartition("\n")[2]
    if WARNED.search(same_block[-60:]):
        return "info"
    quoted = any(mark in OPENING for mark in same_block[-40:])
    around = before + text[found.end() : found.end() + 100]
    if SPOKEN_OF.search(around):
        return "info" if quoted else "warn"
    return "warn" if same_block[-3:].strip()[-1:] in OPENING else rule.severity


def find_hidden_regions(text: str) -> list[tuple[int, int]]:
    """List the stretches of folded text inside markup that a reader does not see."""
    regions: list[tuple[int, int]] = []
    last = 0
    for found in COMMENT.finditer(text):
        if found.start() < last:
            continue
        closing = {"<": ("-->", "--!>"), "{": ("*/}}",)}.get(found.group()[0], ("\n",))
        ends = [end for mark in closing if (end := text.find(mark, found.end(), found.end() + 20_000)) >= 0]
        last = min(ends, default=min(len(text), found.end() + 2000))
        regions.append((found.end(), last))
    last = 0
    for found in CONCEALED.finditer(text):
        if found.start() < last:
            continue
        end = text.find("</", found.end(), found.end() + LONGEST_CUT)
        last = end if end >= 0 else min(len(text), found.end() + 2000)
        regions.append((found.start(), last))
    return regions


def decode_blob(found: re.Match[str]) -> str:
    """Decode base64 (twice at most), hexadecimal, percent or backslash escapes; empty if none."""
    blob = found.group()
    if found.lastgroup == "percent":
        return unquote(blob, errors="replace")
    if found.lastgroup in ("slash", "unicode"):
        blob = blob.replace("\\x", "").replace("\\u00", "")
    for _ in range(2):
        raw = decode_once(blob)
        if raw is None:
            return ""
        blob = raw
        if " " in raw:
            return raw
    return ""


def decode_once(blob: str) -> str | None:
    """Undo one layer of hexadecimal or base64; None when no printable text comes out."""
    try:
        if HEX.fullmatch(blob):
            raw = bytes.fromhex(blob)
        else:
            body = blob.rstrip("=").replace("-", "+").replace("_", "/")
            raw = b64decode(body[: len(body) - (len(body) % 4 == 1)] + "=" * (-len(body) % 4))
        text = raw.decode("utf-8")
    except (ValueError, BadEncoding):
        return None
    return text if text.isprintable() or text.replace("\n", " ").isprintable() else None
