"""Measure the scanner on texts it has never seen: python -m bench.scanner_fresh [HALF] [--show].

The first set combines scanner_fresh.toml: attacks alone and in typical files, disguised plain orders, and benign texts
alone and as files. `look` (even positions) may be read during development; `final` (odd positions) is for the final
figure. `second` contains the attacks of scanner_second.toml, by another author, alone and in files. `third` is the
held-out half (by hash) of scanner_third.toml, disguised with scanner_writings.py; `third-look` is the other half and
`third-all` is both. `fourth`, `fourth-look` and `fourth-all` are the same parts of scanner_fourth.toml: oblique
wordings, and similar benign lines. `fifth`, `fifth-look` and `fifth-all` are those of scanner_fifth.toml: more
languages, forms and encodings (scanner_codes.py). `sixth`, `sixth-look` and `sixth-all` are those of
scanner_sixth.toml, for weaknesses found on files that were not used in training. `seventh`, `seventh-look` and
`seventh-all` are those of scanner_seventh.toml: every category again, in other words. `eighth-all` is
scanner_eighth.toml, with plain words only, all of which is for measuring.
"""

import argparse
import base64
import random
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import mean
from typing import Any, cast
from zlib import crc32

from bench import scanner_codes as codes
from bench import scanner_seventh as seventh
from bench import scanner_sixth as sixth
from bench import scanner_writings as writings
from bench.scanner_attacks import ASKS_TO_DECODE
from bench.scanner_disguises import ENCODERS, HOMOGLYPHS, OBFUSCATED, Writer
from bench.scanner_hiding import ANSI, BIDI, INVISIBLE
from injection_scanner.scanner import scan

TEXTS = Path(__file__).with_name("scanner_fresh.toml")
SECOND = Path(__file__).with_name("scanner_second.toml")
THIRD = Path(__file__).with_name("scanner_third.toml")
FOURTH = Path(__file__).with_name("scanner_fourth.toml")
FIFTH = Path(__file__).with_name("scanner_fifth.toml")
AGENTS_LINES = 200
"""The number of benign lines around an attack in the longest file."""

PLAIN = ("instruction_override", "secret_exfil", "tool_abuse", "role_hijack")
"""The kinds of attacks that are disguised."""

HALVES = (
    *("look", "final", "second", "third-look", "third", "third-all"),
    *("fourth-look", "fourth", "fourth-all"),
    *("fifth-look", "fifth", "fifth-all"),
    *("sixth-look", "sixth", "sixth-all"),
    *("seventh-look", "seventh", "seventh-all"),
    "eighth-all",
)
Row = tuple[str, str]
Keyed = tuple[str, str, str]
"""The key that determines the half, the kind, and the text."""


def load(half: str) -> tuple[dict[str, list[str]], list[str], dict[str, list[str]]]:
    """Return the attacks by kind, the carriers, and the benign texts of one half."""
    texts: dict[str, Any] = tomllib.loads(TEXTS.read_text("utf-8"))
    first = 0 if half == "look" else 1
    attacks = {kind: each[first::2] for kind, each in texts["attacks"].items() if kind != "multi_language"}
    languages = texts["attacks"]["multi_language"].values()
    attacks["multi_language"] = [each[first] for each in languages]
    return attacks, texts["carriers"], {kind: each[first::2] for kind, each in texts["honest"].items()}


def attack_rows(half: str) -> Iterator[Row]:
    """Yield the kind and text of every attack, alone and in alternating carriers, with two for each disguise."""
    attacks, carriers, _ = load(half)
    dice = random.Random(half)
    for kind, texts in attacks.items():
        for number, text in enumerate(texts):
            yield kind, text
            yield kind, carriers[number % len(carriers)].replace("{p}", text)
    orders = [text.replace("\n", " ") for kind in PLAIN for text in attacks[kind]]
    for kind, writers in (
        ("obfuscated_text", OBFUSCATED),
        ("homoglyph", HOMOGLYPHS),
        ("hidden_unicode", INVISIBLE),
        ("bidi", BIDI),
        ("ansi_escape", ANSI),
    ):
        for write in writers.values():
            yield kind, write(dice.choice(orders))
    for write in ENCODERS.values():
        yield "encoded_payload", dice.choice(ASKS_TO_DECODE).replace("{e}", write(dice.choice(orders)))
    for pad in ("\n" * 70_000, " " * 90_000, "Words that say nothing. " * 4000):
        yield "padding_evasion", pad + dice.choice(orders)


def second_rows() -> Iterator[Row]:
    """Yield the kind and text of each attack of the second set, alone and in alternating carriers."""
    _, carriers, _ = load("look")
    for kind, texts in tomllib.loads(SECOND.read_text("utf-8"))["attacks"].items():
        for number, text in enumerate(texts):
            yield kind, text
            yield kind, carriers[number % len(carriers)].replace("{p}", text)


def third_attacks() -> Iterator[Keyed]:
    """Yield the key, kind and text of the third set: sentences and newly disguised orders, alone and in a file."""
    texts: dict[str, Any] = tomllib.loads(THIRD.read_text("utf-8"))
    carriers, orders, number = texts["carriers"], texts["orders"], 0
    honest = texts["honest"]["agents"]
    half = AGENTS_LINES // 2
    lines = [honest[at % len(honest)].replace("`main`", f"`v{at}`") for at in range(AGENTS_LINES)]
    long_file = "- " + "\n- ".join(lines[:half]) + "\n\n{p}\n\n- " + "\n- ".join(lines[half:])
    carriers = [*carriers, long_file]
    for kind, each in texts["attacks"].items():
        for text in cast("list[str]", list(each.values()) if kind == "multi_language" else each):
            number += 1
            yield text, kind, text
            yield text, kind, carriers[number % len(carriers)].replace("{p}", text)
    families: list[tuple[str, Mapping[str, Writer]]] = [
        ("encoded_payload", writings.ENCODERS),
        ("obfuscated_text", writings.OBFUSCATED),
        ("homoglyph", writings.HOMOGLYPHS),
        ("hidden_unicode", writings.HIDDEN),
        ("bidi", writings.BIDI),
        ("ansi_escape", writings.ANSI),
        ("html_hidden", {form: writings.within(form) for form in texts["hidden_forms"]}),
    ]
    for kind, writers in families:
        for name, write in writers.items():
            number += 1
            yield name, kind, write(orders[number % len(orders)])
            yield name, kind, carriers[number % 2].replace("{p}", write(orders[(number + 1) % len(orders)]))
    for at, pad in enumerate(
        ("- item\n" * 12_000, "lorem ipsum dolor " * 6000, "\t\n" * 50_000, "=" * 80_000)
    ):
        yield pad[:9], "padding_evasion", f"{pad}\n{orders[at]}\n{pad[:40]}"


def third_honest() -> Iterator[Keyed]:
    """Yield the key, kind and text of the benign texts, alone, in a file, and partly in harmless encodings."""
    texts: dict[str, Any] = tomllib.loads(THIRD.read_text("utf-8"))
    for kind, each in texts["honest"].items():
        for number, text in enumerate(each):
            yield text, kind, text
            if kind != "security":
                yield text, f"{kind}, in a file", texts["carriers"][number % 5].replace("{p}", text)
    for number, text in enumerate([*texts["honest"]["agents"], *texts["honest"]["others"]]):
        if number % 2:
            yield text, "honest in base64", f"data: {base64.b64encode(text.encode()).decode()}"
        else:
            yield text, "honest in a comment", f"<!-- {text} -->\n# Title\n"


def part_of(file: Path, part: str) -> Iterator[Keyed]:
    """Yield the key, kind and text of the attacks or benign lines of a set, alone and in a file."""
    texts: dict[str, dict[str, list[str]]] = tomllib.loads(file.read_text("utf-8"))
    carriers: list[str] = tomllib.loads(THIRD.read_text("utf-8"))["carriers"]
    for kind, each in texts[part].items():
        for number, text in enumerate(each):
            yield text, kind, text
            yield text, kind, carriers[number % len(carriers)].replace("{p}", text)


def fifth_attacks() -> Iterator[Keyed]:
    """Yield the key, kind and text of the fifth set: sentences and orders in each form, encoding and disguise."""
    yield from part_of(FIFTH, "attacks")
    texts: dict[str, Any] = tomllib.loads(FIFTH.read_text("utf-8"))
    carriers: list[str] = tomllib.loads(THIRD.read_text("utf-8"))["carriers"]
    orders, number = texts["plain"]["orders"], 0
    families: list[tuple[str, Mapping[str, Writer]]] = [
        *((kind, {form: writings.within(form) for form in forms}) for kind, forms in texts["forms"].items()),
        ("encoded_payload", codes.ENCODERS),
        ("obfuscated_text", codes.OBFUSCATED),
    ]
    for kind, writers in families:
        for name, write in writers.items():
            number += 1
            yield name, kind, write(orders[number % len(orders)])
            yield name, kind, carriers[number % 2].replace("{p}", write(orders[(number + 1) % len(orders)]))


def keyed_rows(half: str, rows: Iterator[Keyed]) -> list[Row]:
    """Select the rows of a half by the hash of their key, which a text shares with the file that contains it."""
    looked_at = half.endswith("-look")
    return [
        (kind, text) for key, kind, text in rows if half.endswith("-all") or is_looked_at(key) == looked_at
    ]


def is_looked_at(key: str) -> bool:
    """Return whether a key belongs to the half that may be read during development."""
    return crc32(key.encode()) % 2 == 0


def honest_rows(half: str) -> Iterator[Row]:
    """Yield the kind and text of every benign text, and of files made of several texts."""
    _, carriers, honest = load(half)
    dice = random.Random(half)
    for kind, texts in honest.items():
        for number, text in enumerate(texts):
            yield kind, text
            if kind != "security":
                yield f"{kind}, in a file", carriers[number % len(carriers)].replace("{p}", text)
    for _ in range(30):
        yield "whole files", "# AGENTS.md\n\n- " + "\n- ".join(dice.sample(honest["agents"], 8)) + "\n"


def show(title: str, rows: list[Row], *, loud: bool, listing: bool) -> None:
    found: dict[str, list[str]] = defaultdict(list)
    for kind, text in rows:
        report = scan(text)
        found[kind].append(report.verdict)
        if listing and (report.verdict == "block") != loud:
            rules = {f"{each.rule} {each.why[-70:]}" for each in report.findings if each.severity != "info"}
            if loud or rules:
                print(f"    {kind}: {report.verdict} {text.strip()[:150]!r} {rules or ''}")
    print(f"\n{title:28} {'n':>5}   block  flagged")
    shares: list[tuple[float, float]] = []
    for kind, verdicts in sorted(found.items()):
        blocked, flagged = mean(v == "block" for v in verdicts), mean(v != "allow" for v in verdicts)
        shares.append((blocked, flagged))
        print(f"{kind:28} {len(verdicts):5} {blocked:7.1%} {flagged:7.1%}")
    everything = [verdict for verdicts in found.values() for verdict in verdicts]
    print(
        f"{'all':28} {len(everything):5} {mean(v == 'block' for v in everything):7.1%} "
        f"{mean(v != 'allow' for v in everything):7.1%}"
    )
    print(f"{'macro':28} {len(shares):5} {mean(s[0] for s in shares):7.1%} {mean(s[1] for s in shares):7.1%}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("half", nargs="?", choices=HALVES, default="look")
    parser.add_argument("--show", action="store_true", help="print missed attacks and false alarms")
    options = parser.parse_args()
    if options.half == "second":
        show("attacks", list(second_rows()), loud=True, listing=options.show)
        return
    listing = options.show and options.half.endswith("look")
    keyed = {
        "third": (third_attacks, third_honest),
        "fourth": (lambda: part_of(FOURTH, "attacks"), lambda: part_of(FOURTH, "honest")),
        "fifth": (fifth_attacks, lambda: part_of(FIFTH, "honest")),
        "sixth": (sixth.attacks, sixth.honest),
        "seventh": (seventh.attacks, seventh.honest),
        "eighth": (lambda: sixth.attacks(sixth.EIGHTH), lambda: sixth.honest(sixth.EIGHTH)),
    }.get(options.half.partition("-")[0])
    if keyed:
        attacks, honest = keyed
        show("attacks", keyed_rows(options.half, attacks()), loud=True, listing=listing)
        show("honest", keyed_rows(options.half, honest()), loud=False, listing=listing)
        return
    show("attacks", list(attack_rows(options.half)), loud=True, listing=listing)
    show("honest", list(honest_rows(options.half)), loud=False, listing=listing)


if __name__ == "__main__":
    main()
