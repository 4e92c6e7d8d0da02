"""What a tool declares about all of its calls."""

from typing import Literal

from msgspec import Struct

from hermes_acp.core.event_types import Capability
from hermes_acp.core.flow_labels import Source

Quotes = Literal["nothing", "file", "output"]
"""What an outcome quotes verbatim: nothing, lines of the file at `path`, or arbitrary output."""


class ToolMetadata(Struct, frozen=True):
    """The metadata of one tool.

    `capabilities` are what its calls may access: a call with effects beyond them never runs. `is_cheap` means that a
    step with only such calls is refunded. `is_repeatable` means that running a call twice has the same effect as
    running it once, so a lost call can be repeated. What the tool `quotes` is scanned before the model continues; a
    tool that cleans foreign text itself quotes nothing. `needs` lists the tools it depends on: a toolbox that lacks one
    of them leaves this tool out. At most `max_per_step` calls of one step are carried out; None means all. `brings`
    lists the sources that each call lets the model read, in addition to those in its effects.
    """

    capabilities: frozenset[Capability] = frozenset()
    is_cheap: bool = False
    is_repeatable: bool = False
    quotes: Quotes = "nothing"
    needs: frozenset[str] = frozenset()
    max_per_step: int | None = None
    brings: tuple[Source, ...] = ()
