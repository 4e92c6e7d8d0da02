"""The names of the model APIs in the wire types of `providers/list` and `providers/set`."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

PROTOCOLS: Final[Mapping[str, str]] = MappingProxyType(
    {"openai_compatible": "openai", "anthropic": "anthropic"}
)
