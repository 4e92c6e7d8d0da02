"""Run all checks on a text, passage by passage: rules, languages, classifier, deobfuscation.

A passage is a line of folded text: a paragraph, an item, a heading. Every step is linear in its length.
"""

import re
from collections.abc import Iterator
from functools import cache

from msgspec import structs

from injection_scanner.classification.benign_cache import load_benign_passages, load_blocks_without_payloads
from injection_scanner.classification.classifier import Classifier, PassageScore, WeighedPassage
from injection_scanner.classification.features import in_words, load_weights
from injection_scanner.classification.repetition import Repetition, shape_of
from injection_scanner.classification.threshold_adjustment import threshold_adjustment
from injection_scanner.classification.thresholds import level_of, thresholds_of
from injection_scanner.classification.typical_score import tone_of
from injection_scanner.findings import Severity, Source
from injection_scanner.obfuscation.obfuscation import Obfuscation, looks_obfuscated
from injection_scanner.rules.language_tables import has_pair
from injection_scanner.rules.scanner_rules import (
    Hit,
    load_scan_rules,
    match_hidden,
    match_passage,
    match_signs,
    weigh_context,
)
from injection_scanner.scan_failures import Deadline
from injection_scanner.text.text_folding import Folded, fold
from injection_scanner.text.text_tokens import locate, tokenize
from injection_scanner.text.word_marks import RULE

MAX_DEPTH = 2
MIN_UNSPACED_CHARS = 16
MIN_LETTERS_PER_WORD = 2.25
"""The minimum average length, in real text, of a word with its trailing blank."""

RARE = 16
"""The average number of letters per blank above which there are too few blanks for words."""

UNSPACED = re.compile(r"[A-Za-z\s.,:;!?'-]+")

MAX_BLOCK_CHARS, WHOLE = 3000, 6000
MIN_SQUEEZED_CHARS = 12
MIN_REPEATED = 3
"""The number of different near-attack passages that together count as an attack."""

NOTHING: WeighedPassage = (0, 0)
DOUBTFUL, CERTAIN = "speaks-like-an-order", "speaks-like-an-attack"
A_FEW = 1000
NUMBERING = re.compile(r"\b\d{1,2}(?: ?/ ?\d{1,2}|[.):])")
MAX_HIDDEN_REGIONS = 8
"""The maximum number of hidden regions that may form one split order."""

ADJUSTED = 1.0
"""The reduction of the threshold for hidden markup that names a deed, in log odds."""

ENCODED = 0.3
"""The reduction of the threshold for prose that was encoded, in log odds."""

FOREIGN_LETTER = re.compile(r"[^\x00-\x7f\W\d_]|[\u0300-\u0fff]")
SMALL_WORDS = (
    "the a an and or to of in is are for with on be it this that your you if when use not as by from all"
)
ENGLISH = frozenset(SMALL_WORDS.split())


@cache
def load_classifier() -> Classifier:
    """Return the classifier; on the first call, read the weights and set up the marks of words."""
    from injection_scanner.rules.language_tables import pair_bits_of
    from injection_scanner.rules.lexicon import marks_of

    return Classifier(load_weights(), marks_of, pair_bits_of)


@cache
def load_words() -> frozenset[str]:
    """Return the words that the classifier knows."""
    from injection_scanner.obfuscation.deobfuscation import COMMON

    weights = load_classifier().weights
    return frozenset(
        word
        for word in (*weights.features, *weights.concepts, *COMMON.split())
        if word.isalpha() and len(word) > 1
    ) | {"a", "i"}


def makes_sense(disguise: Obfuscation) -> bool:
    """Return whether deobfuscated text is worth classifying, because random letters match every kind of obfuscation."""
    from injection_scanner.rules.lexicon import is_word

    return disguise.makes_words(
        tokenize(fold(disguise.text).text), lambda token: is_word(token, load_words())
    )


class TextDetector:
    """Runs all word-based checks on one folded text; `original` is the unfolded text."""

    def __init__(
        self,
        original: str,
        folded: Folded,
        depth: int = 0,
        source: Source = "text",
        deadline: Deadline | None = None,
    ) -> None:
        self.original = original
        self.folded = folded
        self.text = folded.text
        self.depth = depth
        self.classifier = load_classifier()
        self.weighed: WeighedPassage = NOTHING
        self.passages = self.text.split("\n")
        self.level = level_of(self.text, tone_of(self.passages, self.classifier)) if depth == 0 else 0
        self.bars = thresholds_of(self.classifier.weights, self.level, source)
        self._source: Source = source
        self._deadline = deadline

    def hits(self) -> Iterator[Hit]:
        """Yield all hits, in no particular order; a span may be found more than once."""
        yield from match_signs(self.text)
        harmless = load_benign_passages(self.level, self._source)
        doubtful: dict[str, list[Hit]] = {}
        weighed: list[WeighedPassage] = []
        repetition = Repetition()
        start = 0
        for passage in self.passages:
            known = harmless.get(passage) if len(passage) > 3 else NOTHING
            if known is None:
                self._check_deadline()
                found = list(self._check_passage(passage, start))
                known = self.weighed
                yield from found
                if near := [hit for hit in found if hit.rule == DOUBTFUL and hit.severity == "warn"]:
                    doubtful.setdefault(shape_of(passage), []).extend(near)
                if not found and self.depth == 0 and passage.count(" ") * 3 < len(passage):
                    harmless.add(passage, known)
            weighed.append(repetition.discounted(known, passage))
            start += len(passage) + 1
        yield from self._check_run(weighed)
        if len(doubtful) >= MIN_REPEATED:
            for hit in (hit for near in doubtful.values() for hit in near):
                yield structs.replace(hit, rule=CERTAIN, severity="block")
        yield from self._check_markup()
        if self.depth == 0 and len(self.text) >= MIN_SQUEEZED_CHARS:
            from injection_scanner.obfuscation.whitespace_obfuscation import spans_without_whitespace

            for first, last in spans_without_whitespace(self.text):
                yield Hit("words-parted", first, last, "block")
            yield from self._check_split_payloads()
            yield from self._check_fragments()

    def _check_deadline(self) -> None:
        if self._deadline:
            self._deadline.check()

    def _check_run(self, weighed: list[WeighedPassage]) -> Iterator[Hit]:
        """Classify consecutive passages as one, because passages that each score low may score high together."""
        run = self.classifier.best_run(weighed)
        if run.score < self.bars.long_warn_at:
            return
        rule_id = CERTAIN if run.score >= self.bars.long_block_at else DOUBTFUL
        start = sum(map(len, self.passages[: run.first])) + run.first
        end = start + sum(map(len, self.passages[run.first : run.last])) + run.last - run.first - 1
        if not _is_english(tokenize(self.text[start : min(end, start + WHOLE)]), 20):
            return
        severity = weigh_context(self.text, start, end, load_scan_rules().rules[rule_id])
        yield Hit(rule_id, start, end, severity, "(all of these words together)")

    def _check_markup(self) -> Iterator[Hit]:
        if not any(sign in self.text for sign in "<[{%"):
            return
        from injection_scanner.obfuscation.hidden_markup import find_hidden_regions
        from injection_scanner.text.text_regions import within_budget

        regions = within_budget(find_hidden_regions(self.text), len(self.text))
        yield from match_hidden(self.text, regions)
        for start, end in regions:
            yield from self._check_hidden(start, end)
        if self.depth == 0 and 1 < len(regions) <= MAX_HIDDEN_REGIONS:
            yield from self._check_together(regions)

    def _check_together(self, regions: list[tuple[int, int]]) -> Iterator[Hit]:
        """Classify the joined text of hidden regions, because an order may be split among several."""
        whole = NUMBERING.sub(" ", " ".join(self.text[start:end] for start, end in regions))
        if len(whole) <= A_FEW and classify_decoded(whole, self.depth + 1, is_certain=False) == "block":
            yield from (Hit("hidden-order", start, end, "block") for start, end in regions)

    def _check_passage(self, passage: str, start: int) -> Iterator[Hit]:
        tokens = tokenize(passage)
        self.weighed = NOTHING
        if len(tokens) < 2:
            return
        heard = self.classifier.score_passage(passage, tokens, self.bars.least)
        marks = self.classifier.marks_in(tokens)
        score = heard.score
        self.weighed = heard.whole, len(tokens)
        hits: list[Hit] = []
        unique = frozenset(marks)
        if marks and (rules := [mark[1:] for mark in unique if mark[0] == RULE]):
            hits += match_passage(self.text, start, start + len(passage), sorted(rules))
        if len(tokens) > 2:
            hits += self._check_foreign(passage, tokens, start)
            ease = threshold_adjustment(heard.features)
            is_doubly_loud = score >= self.bars.doubtful_at and any(hit.severity == "warn" for hit in hits)
            if score >= self.bars.warn_at - ease.warn or is_doubly_loud:
                bar = self.bars.block_at - ease.block
                bar = min(bar, self.bars.doubtful_at) if is_doubly_loud else bar
                reading = self.classifier.explain(tokens, heard)
                first, last = locate(passage, tokens, reading.first, reading.last)
                last = min(len(passage), max(last, first + 1))
                loudness: Severity = "block" if score >= bar else "warn"
                hits.append(self._explained(reading, start + first, start + last, loudness, hits))
        yield from hits
        if self.depth <= 1 and len(tokens) > 3:
            yield from self._check_obfuscated(passage, tokens, marks, start)

    def _check_foreign(self, passage: str, tokens: list[str], start: int) -> Iterator[Hit]:
        sides = self.classifier.sides_in(tokens)
        plain = passage.isascii() or FOREIGN_LETTER.search(passage) is None
        if plain and (not sides or not has_pair(sides) or _is_english(tokens, 30)):
            return
        from injection_scanner.rules.language_rules import (
            ALL_PAIRS,
            check_languages,
            languages_of_pair_bits,
            languages_of_script,
        )

        languages = languages_of_pair_bits(sides)
        rules = load_scan_rules().rules
        if not plain:
            languages += [(language, ALL_PAIRS) for language in languages_of_script(passage)]
        for rule_id, first, last, most in check_languages(passage, languages):
            severity = weigh_context(self.text, start + first, start + last, rules[rule_id])
            yield Hit(rule_id, start + first, start + last, milder_severity(severity, most))

    def _check_obfuscated(
        self, passage: str, tokens: list[str], marks: list[str], start: int
    ) -> Iterator[Hit]:
        """Classify a passage after undoing the obfuscations that its words indicate."""
        if not looks_obfuscated(passage, tokens, marks):
            return
        from injection_scanner.obfuscation.deobfuscation import deobfuscate

        part = passage[:WHOLE]
        first, last = self.folded.origin(start), self.folded.origin(start + len(part))
        for disguise in deobfuscate(part, self.original[first:last], tokens, marks):
            if not makes_sense(disguise):
                continue
            severity = classify_decoded(disguise.text, self.depth + 1, is_certain=disguise.is_certain)
            if severity or disguise.is_spaced_prose:
                severity = "block" if disguise.is_spaced_prose else severity or "warn"
                yield Hit("words-disguised", start, start + len(passage), severity, f"({disguise.how})")
                return

    def _explained(
        self, reading: PassageScore, start: int, end: int, loudness: Severity, others: list[Hit]
    ) -> Hit:
        """Return the hit with the words that weigh most, its severity adjusted for the context.

        If rules matched the passage and the severity of each was lowered because it warns or quotes, this hit's is too.
        """
        rule_id = CERTAIN if loudness == "block" else DOUBTFUL
        rules = load_scan_rules().rules
        severity = weigh_context(self.text, start, end, rules[rule_id])
        if others and all(hit.severity != rules[hit.rule].severity for hit in others):
            for hit in others:
                severity = milder_severity(severity, hit.severity)
        return Hit(rule_id, start, end, severity, f"({', '.join(map(in_words, reading.features))})")

    def _check_hidden(self, start: int, end: int) -> Iterator[Hit]:
        text = self.text[start : min(end, start + MAX_BLOCK_CHARS)]
        if len(text) > 12:
            from injection_scanner.obfuscation.hidden_markup import names_deed

            score = self.classifier.listen(text, tokenize(text))
            if score >= self.bars.hidden_at - (ADJUSTED if names_deed(text) else 0):
                yield Hit("hidden-order", start, end, "block")

    def _check_split_payloads(self) -> Iterator[Hit]:
        """Join nearby quoted parts if a text asks for it."""
        from injection_scanner.obfuscation.split_payloads import (
            follow_instructions,
            join_columns,
            join_quoted,
            may_hold_payload,
        )

        at = 0
        pieceless = load_blocks_without_payloads()
        for block in blocks_of(self.original):
            if block in pieceless or not may_hold_payload(block):
                at += len(block)
                continue
            self._check_deadline()
            for disguise in (*join_quoted(block), *join_columns(block), *follow_instructions(block)):
                if not makes_sense(disguise):
                    continue
                if severity := classify_decoded(
                    disguise.text, self.depth + 1, is_certain=disguise.is_certain
                ):
                    start = self.folded.place(at)
                    yield Hit("pieces-to-join", start, self.folded.place(at + len(block)), severity)
                    break
            else:
                pieceless.add(block)
            at += len(block)

    def _check_fragments(self) -> Iterator[Hit]:
        """Classify the joined text of separate fragments."""
        from injection_scanner.obfuscation.split_fragments import joined_fragments

        known: set[str] = set()
        for joined in joined_fragments(self.original):
            if joined.text in known:
                continue
            known.add(joined.text)
            self._check_deadline()
            if _is_blocked(joined.text) and not any(map(_is_blocked, joined.alone)):
                for start, end in joined.places:
                    yield Hit("pieces-to-join", self.folded.place(start), self.folded.place(end), "block")


def _is_blocked(text: str) -> bool:
    return classify_decoded(text, 1, is_certain=False) == "block"


def milder_severity(one: Severity, two: Severity) -> Severity:
    """Return the milder of two severities."""
    order: tuple[Severity, ...] = ("info", "warn", "block")
    return order[min(order.index(one), order.index(two))]


def blocks_of(text: str) -> Iterator[str]:
    """Split a text into blocks at blank lines, none longer than `MAX_BLOCK_CHARS`; joined, they give the text again."""
    start = 0
    while start < len(text):
        end = text.find("\n\n", start, start + MAX_BLOCK_CHARS)
        end = end + 2 if end >= 0 else min(len(text), start + MAX_BLOCK_CHARS)
        yield text[start:end]
        start = end


def classify_decoded(
    plain: str, depth: int, *, is_certain: bool = True, is_encoded: bool = False
) -> Severity | None:
    """Classify a text that was hidden by an encoding or obfuscation.

    If it certainly was, the threshold is lower, because benign text is not hidden and prose is hardly ever encoded.
    """
    if len(plain) < 8:
        return None
    from injection_scanner.decoding.encodings import find_encoded
    from injection_scanner.obfuscation.hidden_characters import reveal
    from injection_scanner.obfuscation.whitespace_obfuscation import (
        is_order_without_whitespace,
        segment_words,
    )

    text = reveal(plain).text
    if is_order_without_whitespace(text):
        return "block"
    words = text
    if len(text) >= MIN_UNSPACED_CHARS and text.count(" ") * RARE < len(text) and UNSPACED.fullmatch(text):
        words = segment_words("".join(filter(str.isalpha, text)), load_words())
        if len(words) + 1 < MIN_LETTERS_PER_WORD * (words.count(" ") + 1):
            return None
    judge = TextDetector(words, fold(words), depth)
    found: Severity | None = None
    for hit in judge.hits():
        if hit.severity == "block" or (is_certain and hit.rule == DOUBTFUL):
            return "block"
        found = "warn" if hit.severity == "warn" else found
    bar = judge.bars.hidden_at if is_certain else judge.bars.block_at
    if is_encoded:
        bar -= ENCODED
    if hidden_score(judge) >= bar:
        return "block"
    if depth <= MAX_DEPTH:
        for variant in find_encoded(text):
            if classify_decoded(variant.text, depth + 1, is_encoded=variant.how != "escapes") == "block":
                return "block"
    return found


def _is_english(tokens: list[str], least_percent: int) -> bool:
    """Return whether a passage is English prose rather than a list of names, by its share of function words."""
    return sum(map(ENGLISH.__contains__, tokens)) * 100 >= len(tokens) * least_percent


def hidden_score(judge: TextDetector) -> float:
    """Return the highest score of a text as one passage."""
    text = judge.text[:MAX_BLOCK_CHARS].replace("\n", " ")
    return judge.classifier.listen(text, tokenize(text))
