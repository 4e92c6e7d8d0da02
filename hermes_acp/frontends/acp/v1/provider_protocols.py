"""The providers of models, as a client can see and route them."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

PROTOCOLS: Final[Mapping[str, str]] = MappingProxyType(
    {"openai_compatible": "openai", "anthropic": "anthropic"}
)
