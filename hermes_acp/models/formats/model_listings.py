"""Read the entries in an endpoint's list of models, and the context window if an entry states it.

Source: the API references of OpenRouter, vLLM, Groq, Mistral, Together, Anthropic, LM Studio, llama.cpp, GitHub Copilot
and Hugging Face, read on 2026-11-23. Each has its own field; the limit with which the server runs takes precedence over
the one with which the model was trained.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

import msgspec
from msgspec import Struct

from hermes_acp.core.ports.model_ports import ListedModel

MIN_WINDOW_TOKENS: Final = 1_000
"""The minimum plausible context window; a smaller number means something else."""
WINDOW_FIELDS: Final = (
    "loaded_context_length",
    "max_model_len",
    "top_provider.context_length",
    "context_length",
    "context_window",
    "max_context_length",
    "max_input_tokens",
    "capabilities.limits.max_prompt_tokens",
    "capabilities.limits.max_context_window_tokens",
    "meta.n_ctx",
    "meta.n_ctx_train",
)
"""The fields in which entries state the context window, in order of preference. A dot denotes a nested field."""


class _Entry(Struct):
    id: str


class _Listing(Struct):
    data: list[dict[str, Any]] = []


def read_listing(document: bytes) -> tuple[ListedModel, ...]:
    """Parse an OpenAI-style list of models. Raises msgspec.DecodeError."""
    entries = msgspec.json.decode(document, type=_Listing).data
    return tuple(ListedModel(msgspec.convert(entry, _Entry).id, window_of(entry)) for entry in entries)


def window_of(entry: Mapping[str, Any]) -> int | None:
    """Return the context window stated in an entry, or None."""
    stated = (as_window(_value_at(entry, field.split("."))) for field in WINDOW_FIELDS)
    return next((tokens for tokens in stated if tokens is not None), _smallest_offer(entry))


def as_window(value: object) -> int | None:
    """Parse a number of tokens that was sent as a number or as text; return None for anything else."""
    if isinstance(value, str) and value.isdecimal() and value.isascii():
        value = int(value[:12])
    if isinstance(value, bool) or not isinstance(value, int | float) or not MIN_WINDOW_TOKENS <= value < 1e12:
        return None
    return int(value)


def _value_at(entry: object, path: Sequence[str]) -> object:
    for name in path:
        if not isinstance(entry, Mapping):
            return None
        entry = cast("Mapping[str, object]", entry).get(name)
    return entry


def _smallest_offer(entry: Mapping[str, Any]) -> int | None:
    """Return the smallest window among the providers behind a router, because any of them may be used."""
    offers: object = entry.get("providers")
    if not isinstance(offers, list):
        return None
    stated = (as_window(_value_at(offer, ["context_length"])) for offer in cast("list[object]", offers))
    return min((tokens for tokens in stated if tokens is not None), default=None)
