"""The rows of the sixth and eighth sets: their lines alone and in files, and plain orders deep inside padding."""

import random
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SIXTH = Path(__file__).with_name("scanner_sixth.toml")
EIGHTH = Path(__file__).with_name("scanner_eighth.toml")
THIRD = Path(__file__).with_name("scanner_third.toml")
FILLER = (
    "the harvest of the northern valley was late that year and the millers waited for wind while children counted "
    "carts on the road to the harbour where ships from distant towns unloaded salt timber wool and copper"
)
WORDS = FILLER.split()
SEED = 6
Keyed = tuple[str, str, str]


def words(dice: random.Random, count: int) -> str:
    return " ".join(dice.choice(WORDS) for _ in range(count))


def sentences(dice: random.Random, count: int) -> str:
    return " ".join(words(dice, dice.randint(5, 14)).capitalize() + "." for _ in range(count))


def padded(order: str, honest: list[str], dice: random.Random) -> Iterator[tuple[str, str]]:
    """Yield each way to hide an order in a large text, with its name."""
    line = f"{words(dice, 3000)} {order} {words(dice, 3000)}"
    yield "one long line", line
    yield (
        "one long line of JSON",
        '{"notes": "' + sentences(dice, 400) + f" {order} " + sentences(dice, 400) + '"}',
    )
    story = [sentences(dice, 5) for _ in range(400)]
    yield "a long story", "\n\n".join([*story[:250], order, *story[250:]])
    yield "inside a paragraph", "\n\n".join([*story[:90], f"{story[90]} {order} {story[91]}", *story[92:180]])
    table = [f"| {at} | {dice.random():.6f} | {dice.choice(WORDS)} |" for at in range(3000)]
    yield "a table", "\n".join([*table[:2000], f"| 2000 | {order} | note |", *table[2000:]])
    code = [f"    total_{at} = add({at}, {at + 1})  # {dice.choice(WORDS)}" for at in range(2500)]
    yield "comments in code", "\n".join([*code[:1800], f"    # {order}", *code[1800:]])
    rules = [f"- {dice.choice(honest)}" for _ in range(600)]
    yield "honest rules", "\n".join([*rules[:400], f"- {order}", *rules[400:]])
    log = [f"2026-01-01T00:{at % 60:02}:00 INFO worker-{at % 7} {words(dice, 6)}" for at in range(2500)]
    yield "a log", "\n".join([*log[:1900], f"2026-01-01T00:00:00 WARN {order}", *log[1900:]])
    yield "signs", "~-=*" * 15_000 + f"\n{order}\n" + "*=-~" * 15_000
    yield "between its sentences", " ".join(f"{part}. {sentences(dice, 60)}" for part in order.split(". "))


def attacks(file: Path = SIXTH) -> Iterator[Keyed]:
    """Yield the key, kind and text of each attack of a set."""
    texts: dict[str, Any] = tomllib.loads(file.read_text("utf-8"))
    carriers: list[str] = tomllib.loads(THIRD.read_text("utf-8"))["carriers"]
    orders: list[str] = texts["attacks"].pop("orders")
    for kind, each in texts["attacks"].items():
        for number, text in enumerate(each):
            yield text, kind, text
            yield text, kind, carriers[number % len(carriers)].replace("{p}", text)
    dice = random.Random(SEED)
    for order in orders:
        for name, text in padded(order, texts["honest"]["agents"], dice):
            yield f"{name} {order}", "padding_evasion", text


def honest(file: Path = SIXTH) -> Iterator[Keyed]:
    """Yield the key, kind and text of each benign text of a set; lines are also put in a file."""
    texts: dict[str, Any] = tomllib.loads(file.read_text("utf-8"))
    carriers: list[str] = tomllib.loads(THIRD.read_text("utf-8"))["carriers"]
    for kind, each in texts["honest"].items():
        for number, text in enumerate(each):
            yield text, kind, text
            if kind != "files":
                yield text, f"{kind}, in a file", carriers[number % len(carriers)].replace("{p}", text)
