"""The injection scanner, which scans a context file before the model reads it and cuts out attacks.

It is a filter, not a security boundary: every effect still needs permission. Every pass is linear.
Source: OWASP LLM01:2025 (prompt injection); Trojan Source (CVE-2021-42574).
"""

import re
from bisect import bisect_right
from typing import TYPE_CHECKING

from msgspec import Struct

from injection_scanner.findings import Finding, ScanReport, Severity, Source
from injection_scanner.passage_detection import TextDetector, classify_decoded
from injection_scanner.rules.scanner_rules import Hit, load_scan_rules
from injection_scanner.scan_failures import Deadline
from injection_scanner.text.non_ascii import non_ascii_characters
from injection_scanner.text.text_folding import Folded, fold

if TYPE_CHECKING:
    from injection_scanner.decoding.encodings import Variant
    from injection_scanner.obfuscation.hidden_characters import HiddenCharacterFinding

MAX_CUT_CHARS = 4000
MIN_ENCODED_CHARS = 16
MIXED_WORDS = 3
STRAYS = 12
STYLED_WORDS = 4
MAX_STYLED_CHARS = 30
WORD = re.compile(r"\w{0,40}")
BEFORE_WORD = re.compile(r"\w{0,40}\Z")


class Passage(Struct, frozen=True):
    """A span of the visible text to cut, for one rule."""

    start: int
    end: int
    rule: str
    line: int


def examine(text: str, source: Source, deadline: Deadline) -> ScanReport:
    """Check a text with rules and classifier and cut out attacks. Raises ScanTimeoutError after the deadline."""
    return TextScan(text, source, deadline).report()


class TextScan:
    """The scan of one text."""

    def __init__(self, text: str, source: Source, deadline: Deadline) -> None:
        self._source: Source = source
        self._deadline = deadline
        self.rules = load_scan_rules().rules
        self.text, self.sightings = _reveal(text)
        self.line_starts = [0, *(found.end() for found in re.finditer("\n", self.text))]
        self.findings: dict[tuple[int, str], Finding] = {}
        self.passages: list[Passage] = []

    def report(self) -> ScanReport:
        """Run every pass and collect the results."""
        strays = 0
        for sighting in self.sightings:
            self._find(sighting.rule, sighting.line, sighting.excerpt)
            strays += sighting.rule in ("stray-invisible", "split-word")
            if sighting.cuts_line:
                self._cut(sighting.rule, *self._line_span(sighting.line), sighting.line)
        if strays >= STRAYS:
            self._find("many-invisible", self.sightings[0].line, f"{strays} lines")
        folded = fold(self.text)
        self._check_mixed(folded)
        self._check_styled()
        for hit in TextDetector(self.text, folded, 0, self._source, self._deadline).hits():
            self._note(hit, folded.origin(hit.start), folded.origin(hit.end))
        if len(self.text) >= MIN_ENCODED_CHARS:
            from injection_scanner.decoding.encodings import find_encoded

            for variant in find_encoded(self.text):
                self._deadline.check()
                self._check_encoded(variant)
        findings = sorted(self.findings.values(), key=lambda finding: (finding.line, finding.rule))
        return ScanReport(tuple(findings), self._clean())

    def _find(
        self, rule_id: str, line: int, excerpt: str, severity: Severity | None = None, detail: str = ""
    ) -> None:
        """Record a finding, keeping only the most severe one per line and rule."""
        rule = self.rules[rule_id]
        why = f"{rule.why.removesuffix('.')} {detail}." if detail else rule.why
        found = Finding(rule_id, severity or rule.severity, line, excerpt, why, rule.category)
        present = self.findings.get((line, rule_id))
        order: tuple[Severity, ...] = ("info", "warn", "block")
        if present is None or order.index(present.severity) < order.index(found.severity):
            self.findings[line, rule_id] = found

    def _note(self, hit: Hit, start: int, end: int) -> None:
        line = self._line_of(start)
        self._find(hit.rule, line, _show(self.text[start : max(end, start + 1)]), hit.severity, hit.why)
        if hit.severity == "block":
            first, _ = self._line_span(line)
            _, last = self._line_span(self._line_of(max(start, end - 1)))
            self._cut(hit.rule, max(first, start - MAX_CUT_CHARS), min(last, end + MAX_CUT_CHARS), line)

    def _cut(self, rule_id: str, start: int, end: int, line: int) -> None:
        self.passages.append(Passage(start, end, rule_id, line))

    def _line_of(self, offset: int) -> int:
        return bisect_right(self.line_starts, offset)

    def _line_span(self, line: int) -> tuple[int, int]:
        start = self.line_starts[line - 1]
        end = self.line_starts[line] - 1 if line < len(self.line_starts) else len(self.text)
        return start, end

    def _check_mixed(self, folded: Folded) -> None:
        lines: dict[int, set[str]] = {}
        inside = () if self.text.isascii() else self._letters_between()
        for offset in (*folded.mixed, *inside):
            begin = BEFORE_WORD.search(self.text, max(0, offset - 40), offset)
            word = WORD.match(self.text, begin.start() if begin else offset)
            lines.setdefault(self._line_of(offset), set()).add(word.group() if word else "")
        for line, words in lines.items():
            if len(words) >= MIXED_WORDS:
                start, end = self._line_span(line)
                self._find("mixed-alphabets", line, _show(self.text[start:end]))
                self._cut("mixed-alphabets", start, end, line)

    def _letters_between(self) -> list[int]:
        from injection_scanner.text.styled_letters import INTERLEAVED

        return [found.start() for found in INTERLEAVED.finditer(self.text)]

    def _check_styled(self) -> None:
        """Block prose in styled letters: mathematical bold, small capitals, boxed letters."""
        if self.text.isascii():
            return
        from injection_scanner.text.styled_letters import (
            MARKS,
            REGIONAL_WORDS,
            STACKED,
            STYLE_RUN,
            STYLED_SIGN,
        )

        if STYLED_SIGN.search(non_ascii_characters(self.text)) is None:
            return
        for found in STYLE_RUN.finditer(self.text):
            words = found.group().split()
            if len(words) > STYLED_WORDS and len(words[0]) < MAX_STYLED_CHARS:
                self._note(Hit("styled-letters", 0, 0, "block"), *found.span())
        for found in STACKED.finditer(self.text) if MARKS.search(self.text) else ():
            self._note(Hit("stacked-marks", 0, 0, "block"), *found.span())
        spelt = [found for found in REGIONAL_WORDS.finditer(self.text) if len(found.group()) % 2]
        if len(spelt) >= MIXED_WORDS:
            self._note(Hit("styled-letters", 0, 0, "block"), spelt[0].start(), spelt[-1].end())

    def _check_encoded(self, variant: "Variant") -> None:
        """Block encoded orders; warn about encoded prose, which benign files have no reason to contain."""
        verdict = classify_decoded(variant.text, 1, is_encoded=variant.how != "escapes")
        detail = f"({variant.how})"
        if verdict == "block":
            self._note(Hit("encoded-order", 0, 0, "block", detail), variant.start, variant.end)
        elif verdict == "warn" or (variant.how != "escapes" and is_prose(variant.text)):
            self._note(Hit("encoded-text", 0, 0, "warn", detail), variant.start, variant.end)

    def _clean(self) -> str:
        pieces: list[str] = []
        last = 0
        for passage in sorted(self.passages, key=lambda each: (each.start, -each.end)):
            if passage.end <= last:
                continue
            start = max(passage.start, last)
            pieces += (self.text[last:start], removal_marker(passage.rule, passage.line))
            last = passage.end
        pieces.append(self.text[last:])
        return "".join(pieces)


def _reveal(text: str) -> "tuple[str, tuple[HiddenCharacterFinding, ...]]":
    """Remove hidden characters, which plain ASCII text does not contain."""
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text, ()
    from injection_scanner.obfuscation.hidden_characters import reveal

    revealed = reveal(text)
    return revealed.text, revealed.sightings


def _show(text: str) -> str:
    from injection_scanner.obfuscation.hidden_characters import show

    return show(text)


def is_prose(text: str) -> bool:
    """Return whether a text is a sentence rather than data: six words or more, and almost only letters and blanks."""
    head = text[:400]
    return len(head.split()) >= 6 and sum(map(str.isalpha, head)) + head.count(" ") >= 0.93 * len(head)


def removal_marker(rule_id: str, line: int) -> str:
    """Return the marker that replaces a removed passage."""
    return f"[removed by the injection scanner: {rule_id}, line {line}]"
