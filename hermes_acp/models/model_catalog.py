"""Public facts about current models: context windows, output limits, prices and reasoning levels.

Source: the vendors' model, pricing and reasoning pages, read on 2026-11-22; prices are for short prompts at standard
speed.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Final, get_args

from msgspec import Struct, structs

from hermes_acp.config.provider_presets import presets
from hermes_acp.core.messages import Effort, ModelRequest, Usage
from hermes_acp.core.ports.model_ports import ModelInfo

if TYPE_CHECKING:
    from hermes_acp.config.settings import ModelSettings

UNKNOWN: Final = ModelInfo(window_tokens=128_000)
LEVELS: Final[tuple[Effort, ...]] = get_args(Effort)

# Reasoning levels, lowest first. Only a few of Anthropic's models can turn reasoning off.
_GUESSED: Final[tuple[Effort, ...]] = ("low", "medium", "high")
_TO_MAX: Final[tuple[Effort, ...]] = ("low", "medium", "high", "xhigh", "max")
_NONE_TO_XHIGH: Final[tuple[Effort, ...]] = ("none", "low", "medium", "high", "xhigh")
_NONE_TO_MAX: Final[tuple[Effort, ...]] = (*_NONE_TO_XHIGH, "max")
_NO_XHIGH: Final[tuple[Effort, ...]] = ("low", "medium", "high", "max")


class CatalogRow(Struct, frozen=True):
    """A model, identified by its exact name; `thinks` means that adaptive thinking is on by default."""

    name: str
    provider: str
    facts: ModelInfo
    efforts: tuple[Effort, ...] = ()
    thinks: bool = False


Prices = tuple[float, float, float] | None


def _claude(
    name: str, window: int, output: int, prices: Prices, efforts: tuple[Effort, ...] = ()
) -> CatalogRow:
    thinks = "xhigh" in efforts and "claude-opus-4" not in name
    return CatalogRow(
        name, "anthropic", ModelInfo(window, output, *(prices or ()), sees=True), efforts, thinks
    )


def _gpt(name: str, window: int, output: int, prices: Prices, efforts: tuple[Effort, ...] = ()) -> CatalogRow:
    return CatalogRow(
        name, "openai_responses", ModelInfo(window, output, *(prices or ()), sees=True), efforts
    )


def _gemini(name: str, prices: tuple[float, ...], efforts: tuple[Effort, ...]) -> CatalogRow:
    return CatalogRow(name, "gemini", ModelInfo(1_048_576, 65_536, *prices, sees=True), efforts)


# Prices are (input, output, cached input), in dollars per million tokens.
MODELS: Final = (
    _claude("claude-fable-5-2", 1_000_000, 128_000, None, _TO_MAX),
    _claude("claude-fable-5-1", 1_000_000, 128_000, (10, 50, 1), _TO_MAX),
    _claude("claude-fable-5", 1_000_000, 128_000, (10, 50, 1), _TO_MAX),
    _claude("claude-opus-5-5", 1_000_000, 128_000, (4, 20, 0.2), _TO_MAX),
    _claude("claude-opus-5", 1_000_000, 128_000, (5, 25, 0.5), _NONE_TO_MAX),
    _claude("claude-sonnet-5-5", 1_000_000, 128_000, (2, 10, 0.2), _TO_MAX),
    _claude("claude-sonnet-5", 1_000_000, 128_000, (2, 10, 0.2), _TO_MAX),
    _claude("claude-haiku-5-5", 1_000_000, 128_000, (0.1, 0.5, 0.01), _NONE_TO_MAX),
    _claude("claude-opus-4-8", 1_000_000, 128_000, (5, 25, 0.5), _TO_MAX),
    _claude("claude-opus-4-7", 1_000_000, 128_000, (5, 25, 0.5), _TO_MAX),
    _claude("claude-opus-4-6", 1_000_000, 128_000, (5, 25, 0.5), _NO_XHIGH),
    _claude("claude-opus-4-5", 200_000, 64_000, (5, 25, 0.5), _GUESSED),
    _claude("claude-sonnet-4-6", 1_000_000, 64_000, (3, 15, 0.3), _NO_XHIGH),
    _claude("claude-sonnet-4-5", 200_000, 64_000, (3, 15, 0.3)),
    _claude("claude-haiku-4-5", 200_000, 64_000, (1, 5, 0.1)),
    _gpt("gpt-6.2-astra", 1_050_000, 128_000, (8, 40, 0.4), _NONE_TO_MAX),
    _gpt("gpt-6.2-sol", 1_050_000, 128_000, (2, 10, 0.1), _NONE_TO_MAX),
    _gpt("gpt-6.1-sol", 1_050_000, 128_000, (2, 10, 0.1), _NONE_TO_MAX),
    _gpt("gpt-6-astra", 1_050_000, 128_000, (10, 50, 1), _NONE_TO_MAX),
    _gpt("gpt-6-sol", 1_050_000, 128_000, (2, 10, 0.2), _NONE_TO_MAX),
    _gpt("gpt-6-luna", 1_050_000, 128_000, (0.1, 0.5, 0.01), _NONE_TO_MAX),
    _gpt("gpt-5.6-sol", 1_050_000, 128_000, (4, 20, 0.4), _NONE_TO_MAX),
    _gpt("gpt-5.6-terra", 1_050_000, 128_000, (2, 12, 0.2), _NONE_TO_MAX),
    _gpt("gpt-5.6-luna", 1_050_000, 128_000, (0.2, 1.2, 0.02), _NONE_TO_MAX),
    _gpt("gpt-5.5", 1_050_000, 128_000, (5, 30, 0.5), _NONE_TO_XHIGH),
    _gpt("gpt-5.4", 1_050_000, 128_000, (2.5, 15, 0.25), _NONE_TO_XHIGH),
    _gpt("gpt-5.4-mini", 400_000, 128_000, (0.75, 4.5, 0.075), _NONE_TO_XHIGH),
    _gpt("gpt-4.1", 1_047_576, 32_768, (2, 8, 0.5)),
    _gpt("gpt-4.1-mini", 1_047_576, 32_768, (0.4, 1.6, 0.1)),
    _gpt("gpt-4o", 128_000, 16_384, (2.5, 10, 1.25)),
    _gpt("gpt-4o-mini", 128_000, 16_384, (0.15, 0.6, 0.075)),
    _gemini("gemini-3.5-flash", (1.5, 9), ("minimal", "low", "medium", "high")),
    _gemini("gemini-3.1-pro", (2, 12, 0.2), ("low", "high")),
    _gemini("gemini-3.1-flash-lite", (0.25, 1.5, 0.025), ("minimal", "low", "medium", "high")),
    _gemini("gemini-3-flash", (0.5, 3, 0.05), ("minimal", "low", "medium", "high")),
    _gemini("gemini-2.5-pro", (1.25, 10, 0.125), ("low", "medium", "high")),
    _gemini("gemini-2.5-flash-lite", (0.1, 0.4, 0.01), ("none", "low", "medium", "high")),
    _gemini("gemini-2.5-flash", (0.3, 2.5, 0.03), ("none", "low", "medium", "high")),
    CatalogRow(
        "mistral-medium-3-5", "mistral", ModelInfo(262_144, None, 1.5, 7.5, sees=True), ("none", "high")
    ),
    CatalogRow("mistral-large-4-0", "mistral", ModelInfo(524_288, sees=True), _GUESSED),
    CatalogRow("mistral-small-2603", "mistral", ModelInfo(262_144, sees=True), ("none", "high")),
    CatalogRow("mistral-small-latest", "mistral", ModelInfo(262_144, sees=True), ("none", "high")),
    # The vendor's prices vary with the time of day and are in another currency.
    CatalogRow("deepseek-v4-pro", "deepseek", ModelInfo(1_000_000, 384_000), ("none", "low", "high", "max")),
    CatalogRow("deepseek-flash", "deepseek", ModelInfo(1_000_000, 384_000), ("none", "low", "high", "max")),
)

# Unlisted models of a known family: the window is a conservative guess, and prices are unknown.
FAMILIES: Final = (
    ("claude-", ModelInfo(200_000, 32_000, sees=True)),
    ("gpt-6", ModelInfo(1_050_000, 128_000, sees=True)),
    ("gpt-5", ModelInfo(400_000, 128_000, sees=True)),
    ("gpt-oss", ModelInfo(131_072)),
    ("gemini-", ModelInfo(1_048_576, 65_536, sees=True)),
    ("hermes-4", ModelInfo(131_072)),
    ("mistral-", ModelInfo(131_072)),
)
_FAMILY_EFFORTS: Final[tuple[tuple[str, tuple[Effort, ...]], ...]] = (
    ("gpt-6", _NONE_TO_MAX),
    ("gpt-5", ("minimal", "low", "medium", "high")),
    ("gpt-4", ()),
    ("gpt-3", ()),
    ("claude-", ()),
    ("gemini-2-0", ()),
)

_SUFFIX = re.compile(
    r"(?:[-@]\d{8}|-\d{4}-\d{2}-\d{2}|-latest|-preview(?:-\d{2}-\d{2,4})?|-v\d+|:[\w.-]+|\[\w+\])*"
)
_VENDOR_PREFIX = re.compile(r"^(?:[a-z]+(?:-[a-z]+)*\.)?(?:anthropic|openai|deepseek|google)\.")


def model_info_of(model: str, provider: str, own: "Mapping[str, ModelSettings] | None" = None) -> ModelInfo:
    """Return what is known about a model: everything by name (ignoring dates and tags), only the window by family.

    `own` maps model names to the user's settings, which take precedence.
    """
    facts = _public_facts(model, provider)
    if (known := _own_row(model, own)) is None:
        return facts
    settings = known.model_dump(exclude_none=True, exclude={"efforts"})
    return structs.replace(facts, **settings)


def efforts_of(
    model: str, provider: str, own: "Mapping[str, ModelSettings] | None" = None
) -> tuple[Effort, ...]:
    """Return the reasoning levels that a model supports, lowest first; empty if it has none."""
    if (known := _own_row(model, own)) is not None and known.efforts is not None:
        return known.efforts
    public = _public_efforts(model, provider)
    return _GUESSED if public is None else public


def effort_for(wanted: Effort | None, efforts: Sequence[Effort]) -> Effort | None:
    """Return the level to request: the wanted one, or else the nearest below it, or else the lowest.

    Returns None if no level is wanted or there are no levels.
    """
    if wanted is None or not efforts:
        return None
    within: list[Effort] = [level for level in LEVELS[: LEVELS.index(wanted) + 1] if level in efforts]
    return within[-1] if within else next(level for level in LEVELS if level in efforts)


def level_of(request: ModelRequest, provider: str) -> Effort | None:
    """Return the level to request according to public facts; for an unknown model, the level that the user wants."""
    public = _public_efforts(request.model, provider)
    return request.effort if public is None else effort_for(request.effort, public)


def thinks_adaptively(model: str) -> bool:
    """Return whether this Anthropic model always thinks and can be asked to show its thinking."""
    row = _find(model, "anthropic")
    return row is not None and row.thinks


def default_model(provider: str) -> str | None:
    """Return the model to use at a provider's own endpoint if none is named."""
    preset = presets().get(provider)
    return preset.model or None if preset is not None else None


def cost_usd(usage: Usage, facts: ModelInfo) -> float | None:
    """Return the price of one step, or None if prices are unknown.

    The price is a lower bound: surcharges for cache writes and very long prompts are not included.
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


def _public_facts(model: str, provider: str) -> ModelInfo:
    if (row := _find(model, provider)) is not None:
        return row.facts
    name = _plain(model)
    return next((facts for prefix, facts in FAMILIES if name.startswith(prefix)), UNKNOWN)


def _public_efforts(model: str, provider: str) -> tuple[Effort, ...] | None:
    """Return the levels for the endpoint, or else for the model, or None if neither is known."""
    preset = presets().get(provider)
    if preset is not None and (preset.quirks.efforts or not preset.quirks.effort):
        return preset.quirks.efforts
    if (row := _find(model, provider)) is not None:
        return row.efforts
    name = _plain(model)
    return next((efforts for prefix, efforts in _FAMILY_EFFORTS if name.startswith(prefix)), None)


def _own_row(model: str, own: "Mapping[str, ModelSettings] | None") -> "ModelSettings | None":
    return (own or {}).get(model)


@cache
def _find(model: str, provider: str) -> CatalogRow | None:
    """Return the row with the longest name of which the model's name is an extension by only a date or tag.

    A vendor's own endpoint does not serve other vendors' models; any other endpoint may serve any model.
    """
    name = _plain(model)
    rows = [
        row
        for row in MODELS
        if name.startswith(_plain(row.name))
        and (provider not in ("anthropic", "gemini") or row.provider == provider)
    ]
    rows.sort(key=lambda row: len(row.name), reverse=True)
    return next((row for row in rows if _SUFFIX.fullmatch(name[len(_plain(row.name)) :])), None)


def _plain(model: str) -> str:
    """Normalise a name to the spelling in the table: no vendor prefix from a gateway, and dashes instead of dots."""
    name = model.rpartition("/")[2].lower()
    return _VENDOR_PREFIX.sub("", name).replace(".", "-")
