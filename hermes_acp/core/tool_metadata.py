"""What a tool declares of all its calls."""

from typing import Literal

from msgspec import Struct

from hermes_acp.core.event_types import Capability
from hermes_acp.core.flow_labels import Source

Quotes = Literal["nothing", "file", "output"]
"""What an outcome quotes word for word as others wrote it: lines of the file at `path`, or output of any kind."""


class ToolMetadata(Struct, frozen=True):
    """The metadata of one tool.

    `capabilities` are what its calls may touch: one whose effects lie beyond them never runs. `is_cheap`: a step with
    only such calls is refunded. `is_repeatable`: doing a call twice is as good as doing it once, so that a lost call
    can be made again. What it `quotes` is scanned before the model goes on; a tool that cleans foreign text itself
    quotes nothing. `needs` are tools it makes no sense without: a toolbox that lacks one leaves this one out. At most
    `max_per_step` calls of one step are carried out, None for all. `brings` are the sources that each call lets the
    model read, beside those that its effects name.
    """

    capabilities: frozenset[Capability] = frozenset()
    is_cheap: bool = False
    is_repeatable: bool = False
    quotes: Quotes = "nothing"
    needs: frozenset[str] = frozenset()
    max_per_step: int | None = None
    brings: tuple[Source, ...] = ()
