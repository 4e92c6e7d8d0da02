"""The providers of models, as a client can see and route them.

Knows: which protocol of the schema each of ours speaks. Does not know: how a route is kept.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

PROTOCOLS: Final[Mapping[str, str]] = MappingProxyType(
    {"openai_compatible": "openai", "anthropic": "anthropic"}
)
