"""What is publicly known of current models: windows, output limits, prices.

Knows: a dated table, how a model's name is matched against it. Does not know: what an endpoint reports.
Source: the vendors' model and pricing pages, read on 2026-11-21; for short prompts, standard speed.
"""

import re
from typing import Final

from msgspec import Struct

from hermes_acp.core.messages import Usage
from hermes_acp.core.ports import ModelFacts

READ_ON: Final = "2026-11-21"
UNKNOWN: Final = ModelFacts(window_tokens=128_000)

DEFAULT_MODELS: Final = (("anthropic", "claude-sonnet-5-5"), ("openai_compatible", "gpt-6-sol"))
"""Used at each leaf's own vendor where none is named. OpenAI's newer ones take no tools on this format."""


class Row(Struct, frozen=True):
    """A model by its exact name; `thinks` where thinking adapts and is on by default."""

    name: str
    provider: str
    facts: ModelFacts
    thinks: bool = False


def _claude(
    name: str, window: int, output: int, prices: tuple[float, float, float] | None, thinks: bool = False
) -> Row:
    return Row(name, "anthropic", ModelFacts(window, output, *(prices or ())), thinks)


def _gpt(name: str, window: int, output: int, prices: tuple[float, float, float] | None) -> Row:
    return Row(name, "openai_compatible", ModelFacts(window, output, *(prices or ())))


# Prices are (input, output, cached input), in dollars a million tokens.
MODELS: Final = (
    _claude("claude-fable-5-2", 1_000_000, 128_000, None, thinks=True),
    _claude("claude-fable-5-1", 1_000_000, 128_000, (10, 50, 1), thinks=True),
    _claude("claude-fable-5", 1_000_000, 128_000, (10, 50, 1), thinks=True),
    _claude("claude-opus-5-5", 1_000_000, 128_000, (4, 20, 0.2), thinks=True),
    _claude("claude-opus-5", 1_000_000, 128_000, (5, 25, 0.5), thinks=True),
    _claude("claude-sonnet-5-5", 1_000_000, 128_000, (2, 10, 0.2), thinks=True),
    _claude("claude-sonnet-5", 1_000_000, 128_000, (2, 10, 0.2), thinks=True),
    _claude("claude-haiku-5-5", 1_000_000, 128_000, (0.1, 0.5, 0.01), thinks=True),
    _claude("claude-opus-4-8", 1_000_000, 128_000, (5, 25, 0.5)),
    _claude("claude-opus-4-7", 1_000_000, 128_000, (5, 25, 0.5)),
    _claude("claude-opus-4-6", 1_000_000, 128_000, (5, 25, 0.5)),
    _claude("claude-opus-4-5", 200_000, 64_000, (5, 25, 0.5)),
    _claude("claude-sonnet-4-6", 1_000_000, 64_000, (3, 15, 0.3)),
    _claude("claude-sonnet-4-5", 200_000, 64_000, (3, 15, 0.3)),
    _claude("claude-haiku-4-5", 200_000, 64_000, (1, 5, 0.1)),
    _gpt("gpt-6.2-astra", 1_050_000, 128_000, (8, 40, 0.4)),
    _gpt("gpt-6.2-sol", 1_050_000, 128_000, (2, 10, 0.1)),
    _gpt("gpt-6.1-sol", 1_050_000, 128_000, (2, 10, 0.1)),
    _gpt("gpt-6-astra", 1_050_000, 128_000, (10, 50, 1)),
    _gpt("gpt-6-sol", 1_050_000, 128_000, (2, 10, 0.2)),
    _gpt("gpt-6-luna", 1_050_000, 128_000, (0.1, 0.5, 0.01)),
    _gpt("gpt-5.6-sol", 1_050_000, 128_000, (4, 20, 0.4)),
    _gpt("gpt-5.6-terra", 1_050_000, 128_000, (2, 12, 0.2)),
    _gpt("gpt-5.6-luna", 1_050_000, 128_000, (0.2, 1.2, 0.02)),
    _gpt("gpt-5.5", 1_050_000, 128_000, (5, 30, 0.5)),
    _gpt("gpt-5.4", 1_050_000, 128_000, (2.5, 15, 0.25)),
    _gpt("gpt-5.4-mini", 400_000, 128_000, (0.75, 4.5, 0.075)),
    _gpt("gpt-4.1", 1_047_576, 32_768, (2, 8, 0.5)),
    _gpt("gpt-4.1-mini", 1_047_576, 32_768, (0.4, 1.6, 0.1)),
    _gpt("gpt-4o", 128_000, 16_384, (2.5, 10, 1.25)),
    _gpt("gpt-4o-mini", 128_000, 16_384, (0.15, 0.6, 0.075)),
)

# Models of a known family but unlisted: their window is a safe guess, their prices none.
FAMILIES: Final = (
    ("claude-", ModelFacts(200_000, 32_000)),
    ("gpt-6", ModelFacts(1_050_000, 128_000)),
    ("gpt-5", ModelFacts(400_000, 128_000)),
    ("gpt-oss", ModelFacts(131_072)),
)

_SUFFIX = re.compile(r"(?:[-@]\d{8}|-\d{4}-\d{2}-\d{2}|-latest|:[\w.-]+|\[\w+\])*")


def facts_of(model: str, provider: str) -> ModelFacts:
    """Give what is known of a model: all of it by name (dates and tags aside), the window alone by family."""
    if (row := _find(model, provider)) is not None:
        return row.facts
    name = _plain(model)
    return next((facts for prefix, facts in FAMILIES if name.startswith(prefix)), UNKNOWN)


def thinks_adaptively(model: str) -> bool:
    """Say whether Anthropic's model thinks of its own accord and can be asked to show it."""
    row = _find(model, "anthropic")
    return row is not None and row.thinks


def default_model(provider: str) -> str | None:
    """Give the model used at a leaf's own vendor where none is named."""
    return dict(DEFAULT_MODELS).get(provider)


def cost_usd(usage: Usage, facts: ModelFacts) -> float | None:
    """Price one step; None where prices are unknown.

    A lower bound: what vendors add for writing to their cache and for very long prompts is not counted.
    """
    if facts.input_usd is None or facts.output_usd is None:
        return None
    cached_usd = facts.input_usd if facts.cached_usd is None else facts.cached_usd
    fresh_tokens = max(0, usage.input_tokens - usage.cached_tokens)
    total = (
        fresh_tokens * facts.input_usd
        + usage.cached_tokens * cached_usd
        + usage.output_tokens * facts.output_usd
    )
    return total / 1_000_000


def _find(model: str, provider: str) -> Row | None:
    """Find the longest name the model's begins with, where only a date or tag follows."""
    name = _plain(model)
    rows = [
        row for row in MODELS if name.startswith(_plain(row.name)) and row.provider in (provider, "anthropic")
    ]
    if provider == "anthropic":
        rows = [row for row in rows if row.provider == "anthropic"]
    rows.sort(key=lambda row: len(row.name), reverse=True)
    return next((row for row in rows if _SUFFIX.fullmatch(name[len(_plain(row.name)) :])), None)


def _plain(model: str) -> str:
    """Spell a name as the table does: gateways put the vendor before it and dots for dashes."""
    return model.rpartition("/")[2].replace(".", "-").lower()
