"""All that is asked of a text's words, passage by passage: rules, languages, the classifier, and words put right.

Knows: in which order, with which bars. Does not know: characters nobody sees, lines, cutting.
A passage is a line of folded text: a paragraph, an item, a heading. Every step is linear in its length.
"""

from collections.abc import Iterator
from functools import cache

from hermes_acp.knowledge.classifier import Classifier, load_weights, tokenize
from hermes_acp.knowledge.folding import Folded, fold
from hermes_acp.knowledge.marks import ONE_SIDE, OTHER_SIDE, RULE
from hermes_acp.knowledge.rulebook import (
    Hit,
    Severity,
    load_rulebook,
    match_hidden,
    match_passage,
    match_signs,
    weigh,
)

DEEPEST = 2
LONGEST_BLOCK = 3000
WHOLE = 6000
MOST_KNOWN = 20_000
LONGEST_KNOWN = 800
LEAST_SQUEEZED = 12
MARKUP_SIGNS = ("<", "\\", "__", "`")
SMALL_WORDS = (
    "the a an and or to of in is are for with on be it this that your you if when use not as by from all"
)
ENGLISH = frozenset(SMALL_WORDS.split())


@cache
def load_classifier() -> Classifier:
    """Read the weights once, and know words by their marks."""
    return Classifier(load_weights(), _marks_of)


def _marks_of(token: str) -> tuple[str, ...]:
    from hermes_acp.knowledge.lexicon import marks_of

    return marks_of(token)


class Harmless:
    """Passages in which nothing was found: files are read again and again, and mostly stay as they were.

    What is found depends on a passage alone, only how it is weighed depends on what stands around it.
    """

    def __init__(self) -> None:
        self._known: set[str] = set()

    def __contains__(self, passage: str) -> bool:
        return passage in self._known

    def add(self, passage: str) -> None:
        """Remember a passage; when there are too many, begin anew."""
        if len(passage) <= LONGEST_KNOWN:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            self._known.add(passage)


@cache
def load_harmless() -> Harmless:
    """Give the passages this process has found harmless."""
    return Harmless()


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
        harmless = load_harmless()
        start = 0
        for passage in self.text.split("\n"):
            if len(passage) > 3 and passage not in harmless:
                found = list(self._judge_passage(passage, start))
                yield from found
                if not found and self.depth == 0 and passage.count(" ") * 3 < len(passage):
                    harmless.add(passage)
            start += len(passage) + 1
        yield from self._judge_markup()
        if self.depth == 0 and len(self.text) >= LEAST_SQUEEZED:
            from hermes_acp.knowledge.unscrambling import squeezed_spans

            for first, last in squeezed_spans(self.text):
                yield Hit("words-parted", first, last, "block")
            yield from self._judge_pieces()

    def _judge_markup(self) -> Iterator[Hit]:
        if not any(sign in self.text for sign in "<[{%"):
            return
        from hermes_acp.knowledge.concealment import find_hidden_regions

        regions = find_hidden_regions(self.text)
        yield from match_hidden(self.text, regions)
        for start, end in regions:
            yield from self._judge_hidden(start, end)

    def _judge_passage(self, passage: str, start: int) -> Iterator[Hit]:
        tokens = tokenize(passage)
        if len(tokens) < 2:
            return
        marks: list[str] = []
        score = self.classifier.read(tokens, marks)
        hits: list[Hit] = []
        if marks:
            rules = {mark[1:] for mark in marks if mark[0] == RULE}
            hits += match_passage(self.text, start, start + len(passage), sorted(rules))
        if len(tokens) > 2:
            hits += self._judge_foreign(passage, tokens, marks, start)
            if score >= self.bars.warn_at:
                hits.append(self._explained(tokens, passage, start, score, hits))
        yield from hits
        if self.depth == 0 and len(tokens) > 3:
            yield from self._judge_disguised(passage, tokens, marks, start)

    def _judge_foreign(self, passage: str, tokens: list[str], marks: list[str], start: int) -> Iterator[Hit]:
        plain = passage.isascii()
        sides = {mark[1:] for mark in marks if mark[0] == OTHER_SIDE}
        pairs: dict[str, set[int]] = {}
        for mark in marks:
            if mark[0] == ONE_SIDE and mark[1:] in sides:
                name, _, number = mark[1:].partition(":")
                pairs.setdefault(name, set()).add(int(number))
        if plain and (not pairs or _is_english(tokens)):
            return
        from hermes_acp.knowledge.languages import (
            ALL_PAIRS,
            judge_languages,
            languages_of_script,
            load_library,
        )

        library, rules = load_library(), load_rulebook().rules
        languages = [(library.by_name[name], frozenset(numbers)) for name, numbers in sorted(pairs.items())]
        if not plain:
            languages += [(language, ALL_PAIRS) for language in languages_of_script(passage)]
        for rule_id, first, last, most in judge_languages(passage, languages):
            severity = weigh(self.text, start + first, start + last, rules[rule_id])
            yield Hit(rule_id, start + first, start + last, milder(severity, most))

    def _judge_disguised(
        self, passage: str, tokens: list[str], marks: list[str], start: int
    ) -> Iterator[Hit]:
        """Judge what a passage says when the disguises its words show are undone."""
        if not any(mark[0] == "?" for mark in marks) and not any(sign in passage for sign in MARKUP_SIGNS):
            return
        from hermes_acp.knowledge.unscrambling import undo_disguises

        part = passage[:WHOLE]
        first, last = self.folded.origin(start), self.folded.origin(start + len(part))
        for disguise in undo_disguises(part, self.original[first:last], tokens, marks):
            if severity := condemn(disguise.text, self.depth + 1, is_certain=disguise.is_certain):
                yield Hit("words-disguised", start, start + len(passage), severity, f"({disguise.how})")
                return

    def _explained(self, tokens: list[str], passage: str, start: int, score: float, others: list[Hit]) -> Hit:
        """Find the loud stretch in the passage again, and weigh what stands around it.

        Where rules spoke of the passage and each was lowered, since it warns or quotes, this is lowered too.
        """
        reading = self.classifier.explain(tokens)
        first, last = locate(passage, tokens, reading.first, reading.last)
        rule_id = "speaks-like-an-attack" if score >= self.bars.block_at else "speaks-like-an-order"
        rules = load_rulebook().rules
        severity = weigh(self.text, start + first, start + last, rules[rule_id])
        if others and all(hit.severity != rules[hit.rule].severity for hit in others):
            for hit in others:
                severity = milder(severity, hit.severity)
        return Hit(rule_id, start + first, start + last, severity, f"({', '.join(reading.features)})")

    def _judge_hidden(self, start: int, end: int) -> Iterator[Hit]:
        text = self.text[start : min(end, start + LONGEST_BLOCK)]
        if len(text) > 12 and self.classifier.read(tokenize(text)) >= self.bars.hidden_at:
            yield Hit("hidden-order", start, end, "block")

    def _judge_pieces(self) -> Iterator[Hit]:
        """Join quoted pieces that lie together, where a text says to."""
        from hermes_acp.knowledge.unscrambling import join_quoted

        at = 0
        for block in blocks_of(self.original):
            for disguise in join_quoted(block):
                if severity := condemn(disguise.text, self.depth + 1, is_certain=False):
                    start = self.folded.place(at)
                    yield Hit("pieces-to-join", start, self.folded.place(at + len(block)), severity)
                    break
            at += len(block)


def milder(one: Severity, two: Severity) -> Severity:
    """Give the milder of two severities."""
    order: tuple[Severity, ...] = ("info", "warn", "block")
    return order[min(order.index(one), order.index(two))]


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


def condemn(plain: str, depth: int, *, is_certain: bool = True) -> Severity | None:
    """Judge a text that was hidden by a notation or a disguise.

    Where it certainly was, the bar is lower, for honest text is not hidden.
    """
    if len(plain) < 8:
        return None
    from hermes_acp.knowledge.decoding import find_encoded
    from hermes_acp.knowledge.hidden_characters import reveal
    from hermes_acp.knowledge.unscrambling import is_squeezed_order

    text = reveal(plain).text
    judge = Judge(text, fold(text), depth)
    found: Severity | None = None
    for hit in judge.hits():
        if hit.severity == "block" or (is_certain and hit.rule == "speaks-like-an-order"):
            return "block"
        found = "warn" if hit.severity == "warn" else found
    bar = judge.bars.hidden_at if is_certain else judge.bars.block_at
    if is_squeezed_order(text) or hidden_score(judge) >= bar:
        return "block"
    if depth <= DEEPEST:
        for variant in find_encoded(text):
            if condemn(variant.text, depth + 1) == "block":
                return "block"
    return found


def _is_english(tokens: list[str]) -> bool:
    """Tell by its small words that a passage is English throughout."""
    return sum(token in ENGLISH for token in tokens) * 10 >= len(tokens) * 3


def hidden_score(judge: Judge) -> float:
    """Give the loudest score of a text as one passage."""
    return judge.classifier.read(tokenize(judge.text[:LONGEST_BLOCK].replace("\n", " ")))
