"""The scanner's rules, which are loaded from `rules.toml`, matched on folded text, and weighed by context.

A pattern is compiled when a text first contains one of its words, so that short texts are scanned fast.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache

from msgspec import Struct

from injection_scanner.findings import Severity
from injection_scanner.tables.compiled_tables import load_table
from injection_scanner.text.text_folding import fold_pattern
from injection_scanner.text.text_tokens import tokenize

FRAGMENT = re.compile(r"<<(\w+)>>")
WARNED = re.compile(
    r"\b(?:never|not|don't|avoid|cannot|can't|won't|refuse to|without|nor|should not|must not)"
    r"(?:,? (?:(?!hesitate|fail|forget|only|worry|answer|reply|respond|wait\b)\w{1,12},? ){0,3}| )$"
)
MENTIONED = re.compile(
    r"(?<![@./-])\b(?:prompt.)?(?:inject|attack(?!er\.)|jailbreak|malicious|untrusted|adversar"
    r"|(?:phrases?|text|prompts?) like\b|detect|payload|exploit|attempt|red.?team|suspicious|is data\b"
    r"|hijack|vulnerab"
    r"|if (?:an?|any|some\w{0,5}|any\w{3,5}|the) (?:\w{1,12} ){0,3}(?:tells|asks|instructs|urges) you\b)"
)
INTRODUCED = re.compile(r"\b(?:such as\b|e\.g\.|for example\b)")
"""Matches phrases that introduce an example; after an order, they are meaningless."""

BEGIN = 3
"""The length of the prefixes by which a rule's words are looked up."""

OPENING = frozenset("\"'`\u201c\u2018\u00ab\u300c\u201e")


class ScanRule(Struct, frozen=True, forbid_unknown_fields=True):
    """One rule.

    Without a `pattern`, it names a check that is implemented elsewhere; `rules.toml` explains the fields.
    """

    id: str
    severity: Severity
    category: str
    why: str
    example: str
    counter_example: str
    pattern: str = ""
    needs: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    hidden: bool = False
    quotable: bool = True


class ScanRuleFile(Struct, frozen=True, forbid_unknown_fields=True):
    """The schema of `rules.toml`."""

    fragments: dict[str, str]
    rule: tuple[ScanRule, ...]


class ScanRules(Struct, frozen=True):
    """All rules by ID, and their triggers: words of a passage, characters in a text, or being hidden.

    `by_word` maps first letters to each word prefix that a rule needs, with the rule's ID.
    """

    rules: dict[str, ScanRule]
    fragments: dict[str, str]
    by_word: dict[str, tuple[tuple[str, str], ...]]
    by_sign: tuple[str, ...]
    hidden: tuple[str, ...]


class Hit(Struct, frozen=True):
    """One match of a rule in folded text, with its severity after weighing."""

    rule: str
    start: int
    end: int
    severity: Severity
    why: str = ""


@cache
def load_scan_rules() -> ScanRules:
    """Read the rules once."""
    return load_table("rules", ScanRules, build_scan_rules)


def build_scan_rules(source: str) -> ScanRules:
    """Build the rules from the text of `rules.toml`."""
    import tomllib

    from msgspec import convert, structs

    file = convert(tomllib.loads(source), ScanRuleFile)
    rules = {rule.id: structs.replace(rule, needs=tuple(map(fold_pattern, rule.needs))) for rule in file.rule}
    by_word: dict[str, tuple[tuple[str, str], ...]] = {}
    by_sign: list[str] = []
    for rule in rules.values():
        if rule.needs and all(tokenize(need)[:1] and need[0].isalpha() for need in rule.needs):
            for need in rule.needs:
                word = max(tokenize(need), key=len)
                by_word[word[:BEGIN]] = (*by_word.get(word[:BEGIN], ()), (word, rule.id))
        elif rule.needs:
            by_sign.append(rule.id)
    hidden = tuple(rule.id for rule in rules.values() if rule.hidden)
    return ScanRules(rules, file.fragments, by_word, tuple(by_sign), hidden)


@cache
def pattern_of(rule_id: str) -> re.Pattern[str]:
    """Compile a rule's pattern."""
    book = load_scan_rules()
    pattern = book.rules[rule_id].pattern
    while found := FRAGMENT.search(pattern):
        if found[1] not in book.fragments:
            break
        pattern = pattern.replace(found[0], book.fragments[found[1]])
    return re.compile(fold_pattern(pattern))


def match_passage(text: str, start: int, end: int, rule_ids: Iterable[str]) -> Iterator[Hit]:
    """Match the given rules against one passage of a text."""
    rules = load_scan_rules().rules
    passage = text[start:end]
    for rule_id in rule_ids:
        if not is_called_for(rules[rule_id], passage):
            continue
        for found in pattern_of(rule_id).finditer(text, start, end):
            yield Hit(rule_id, *found.span(), weigh_context(text, *found.span(), rules[rule_id]))


def is_called_for(rule: ScanRule, text: str) -> bool:
    """Return whether a text has one of the words, phrases or characters that a rule needs, and any companion."""
    return any(map(text.__contains__, rule.needs)) and (
        not rule.beside or any(map(text.__contains__, rule.beside))
    )


def match_signs(text: str) -> Iterator[Hit]:
    """Match the rules that are triggered by characters in the text against the whole text."""
    book = load_scan_rules()
    for rule_id in book.by_sign:
        rule = book.rules[rule_id]
        if is_called_for(rule, text):
            for found in pattern_of(rule_id).finditer(text):
                yield Hit(rule_id, *found.span(), weigh_context(text, *found.span(), rule))


def match_hidden(text: str, regions: list[tuple[int, int]]) -> Iterator[Hit]:
    """Match the rules for hidden text against hidden regions."""
    book = load_scan_rules()
    for rule_id in book.hidden:
        pattern = pattern_of(rule_id)
        for start, end in regions:
            if pattern.search(text, start, end):
                yield Hit(rule_id, start, end, book.rules[rule_id].severity)


def weigh_context(text: str, start: int, end: int, rule: ScanRule) -> Severity:
    """Lower a severity if the text warns about the attack or quotes it; a JSON value is not a quotation."""
    if not rule.quotable or rule.severity == "info":
        return rule.severity
    before = text[max(0, start - 200) : start]
    same_block = before.rpartition("\n")[2]
    if WARNED.search(same_block[-60:]):
        return "info"
    quoted = any(mark in OPENING for mark in same_block[-40:])
    if MENTIONED.search(before + text[end : end + 100]) or INTRODUCED.search(before):
        return "info" if quoted else "warn"
    ahead, quote, _ = same_block.rpartition('"')
    if ahead.rstrip().endswith('":'):
        return rule.severity
    is_inside = ahead.count('"') % 2 == 0 and quote and '"' in text[end : end + 80].partition("\n")[0]
    return "warn" if is_inside or same_block[-1:] in OPENING else rule.severity
