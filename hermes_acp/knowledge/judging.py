"""All that is asked of a text's words, passage by passage: rules, languages, the classifier, and words put right.

Knows: in which order, with which bars. Does not know: characters nobody sees, lines, cutting.
A passage is a line of folded text: a paragraph, an item, a heading. Every step is linear in its length.
"""

from collections.abc import Iterator

from hermes_acp.knowledge.classifier import load_classifier, tokenize
from hermes_acp.knowledge.concealment import find_hidden_regions
from hermes_acp.knowledge.decoding import find_encoded
from hermes_acp.knowledge.folding import Folded, fold
from hermes_acp.knowledge.hidden_characters import reveal
from hermes_acp.knowledge.languages import is_english, judge_languages
from hermes_acp.knowledge.rulebook import (
    BEGIN,
    Hit,
    Severity,
    load_rulebook,
    match_hidden,
    match_passage,
    match_signs,
    weigh,
)
from hermes_acp.knowledge.unscrambling import (
    Disguise,
    join_quoted,
    read_ciphers,
    read_jumbled,
    read_leet,
    read_parted,
    read_spelling,
    squeezed_spans,
)

DEEPEST = 2
LONGEST_BLOCK = 3000
WHOLE = 6000


class Judge:
    """One folded text on its way through all that is asked of words; `original` is what was folded."""

    def __init__(self, original: str, folded: Folded, depth: int = 0) -> None:
        self.original = original
        self.folded = folded
        self.text = folded.text
        self.depth = depth
        self.classifier = load_classifier()
        self.bars = self.classifier.weights

    def hits(self) -> Iterator[Hit]:
        """Give everything found, in no order; a stretch may be found more than once."""
        yield from match_signs(self.text)
        start = 0
        for passage in self.text.split("\n"):
            if len(passage) > 3:
                yield from self._judge_passage(passage, start)
            start += len(passage) + 1
        regions = find_hidden_regions(self.text)
        yield from match_hidden(self.text, regions)
        for start, end in regions:
            yield from self._judge_hidden(start, end)
        if self.depth == 0:
            for start, end in squeezed_spans(self.text):
                yield Hit("words-parted", start, end, "block")
            yield from self._judge_pieces()

    def _judge_passage(self, passage: str, start: int) -> Iterator[Hit]:
        tokens = tokenize(passage)
        begins = {token[:BEGIN] for token in tokens}
        end = start + len(passage)
        if len(tokens) < 2:
            return
        yield from match_passage(self.text, start, end, begins)
        if len(tokens) < 3:
            return
        book = load_rulebook()
        foreign = () if passage.isascii() and is_english(tokens) else judge_languages(passage, begins)
        for rule_id, first, last, is_certain in foreign:
            rule = book.rules[rule_id]
            severity = weigh(self.text, start + first, start + last, rule)
            if severity == "block" and not is_certain:
                severity = "warn"
            yield Hit(rule_id, start + first, start + last, severity)
        score = self.classifier.read(tokens)
        if score >= self.bars.warn_at:
            yield self._explained(tokens, passage, start, score)
        if self.depth == 0 and len(tokens) > 3:
            for disguise in self._disguises(passage, tokens, start):
                if severity := condemn(disguise.text, self.depth + 1):
                    yield Hit("words-disguised", start, end, severity, f"({disguise.how})")
                    break

    def _disguises(self, passage: str, tokens: list[str], start: int) -> list[Disguise]:
        part = passage if len(passage) <= WHOLE else passage[:WHOLE]
        raw = self.original[self.folded.origin(start) : self.folded.origin(start + len(part))]
        return [
            *read_ciphers(part, tokens),
            *read_leet(part, tokens),
            *read_parted(raw, tokens),
            *read_jumbled(part, tokens),
            *read_spelling(tokens),
        ]

    def _explained(self, tokens: list[str], passage: str, start: int, score: float) -> Hit:
        """Find the loud stretch in the passage again, and weigh what stands around it."""
        reading = self.classifier.explain(tokens)
        first, last = locate(passage, tokens, reading.first, reading.last)
        rule_id = "speaks-like-an-attack" if score >= self.bars.block_at else "speaks-like-an-order"
        severity = weigh(self.text, start + first, start + last, load_rulebook().rules[rule_id])
        return Hit(rule_id, start + first, start + last, severity, f"({', '.join(reading.features)})")

    def _judge_hidden(self, start: int, end: int) -> Iterator[Hit]:
        text = self.text[start : min(end, start + LONGEST_BLOCK)]
        if len(text) > 12 and self.classifier.read(tokenize(text)) >= self.bars.hidden_at:
            yield Hit("hidden-order", start, end, "block")

    def _judge_pieces(self) -> Iterator[Hit]:
        """Join quoted pieces that lie together, where a text says to."""
        at = 0
        for block in blocks_of(self.original):
            for disguise in join_quoted(block):
                if severity := condemn(disguise.text, self.depth + 1):
                    start = self.folded.place(at)
                    yield Hit("pieces-to-join", start, self.folded.place(at + len(block)), severity)
                    break
            at += len(block)


def blocks_of(text: str) -> Iterator[str]:
    """Cut a text into blocks between blank lines, none longer than `LONGEST_BLOCK`; together they are the text."""
    start = 0
    while start < len(text):
        end = text.find("\n\n", start, start + LONGEST_BLOCK)
        end = end + 2 if end >= 0 else min(len(text), start + LONGEST_BLOCK)
        yield text[start:end]
        start = end


def locate(passage: str, tokens: list[str], first: int, last: int) -> tuple[int, int]:
    """Give where tokens `first` to `last` lie in a passage, as far as they can be found in order."""
    if last - first >= len(tokens):
        return 0, len(passage)
    at, begin = 0, 0
    for number, token in enumerate(tokens[:last]):
        found = passage.find(token, at)
        if found >= 0:
            at = found + 1
        if number == first:
            begin = max(0, at - 1)
    return begin, min(len(passage), at + 24)


def condemn(plain: str, depth: int) -> Severity | None:
    """Judge a text that was hidden by a notation or a disguise: the bar is lower, for honest text is not hidden."""
    if len(plain) < 8:
        return None
    text = reveal(plain).text
    judge = Judge(text, fold(text), depth)
    found: Severity | None = None
    for hit in judge.hits():
        if hit.severity == "block" or hit.rule == "speaks-like-an-order":
            return "block"
        found = "warn" if hit.severity == "warn" else found
    if hidden_score(judge) >= judge.bars.hidden_at:
        return "block"
    if depth <= DEEPEST:
        for variant in find_encoded(text):
            if condemn(variant.text, depth + 1) == "block":
                return "block"
    return found


def hidden_score(judge: Judge) -> float:
    """Give the loudest score of a text as one passage."""
    return judge.classifier.read(tokenize(judge.text[:LONGEST_BLOCK].replace("\n", " ")))
