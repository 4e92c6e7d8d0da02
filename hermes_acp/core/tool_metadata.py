"""What a tool says of all its calls, for whoever decides about them without knowing the tool.

Knows: the traits there are. Does not know: who goes by them.
"""

from typing import Literal

from msgspec import Struct

from hermes_acp.core.event_types import Capability
from hermes_acp.core.flow_labels import Source

Quotes = Literal["nothing", "file", "output"]
"""What an outcome holds word for word as others wrote it: lines of the file at `path`, or output of any kind."""


class ToolMetadata(Struct, frozen=True):
    """One tool's.

    `capabilities` are what its calls may have to do with: one whose effects lie beyond that never runs.
    `is_cheap`: a step that made only such calls costs the turn nothing. `is_repeatable`: doing a call twice is as good
    as doing it once, so that nobody need look what a lost one did. What it `quotes` is looked through for orders before
    the model goes on; a tool that cleans foreign text itself quotes nothing. `needs` are the tools it makes no sense
    without: a toolbox that lacks one has not this one either. `max_per_step` calls of one step are carried out, all
    where it is None. `brings` are the sources that each call lets the model read, beside those that its effects name.
    """

    capabilities: frozenset[Capability] = frozenset()
    is_cheap: bool = False
    is_repeatable: bool = False
    quotes: Quotes = "nothing"
    needs: frozenset[str] = frozenset()
    max_per_step: int | None = None
    brings: tuple[Source, ...] = ()
