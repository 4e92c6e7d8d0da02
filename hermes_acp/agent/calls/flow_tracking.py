"""Track what a session has read, and pass it to policy.

A child agent is also exposed to what its parent agents have read; what it reads is recorded for them too.
"""

from collections.abc import Iterable
from functools import partial
from typing import Final

from msgspec import structs

from hermes_acp.agent.turn.policy_timeout import within_timeout
from hermes_acp.agent.turn.turn import Turn
from hermes_acp.core.flow_labels import Exposure, Source, SourcesRead
from hermes_acp.core.messages import ToolMessage, UserMessage, typed_words_in
from hermes_acp.core.ports.tool_ports import Tool
from hermes_acp.core.proposals import Proposal
from hermes_acp.core.record.session_record import Record
from hermes_acp.core.untrusted_text import plain
from hermes_acp.policy.information_flow import FlowState

MAX_NAME_CHARACTERS: Final = 120
UNKNOWN_OUTPUT: Final = Source("untrusted", "the output of a command")


def exposure_of(turn: Turn) -> Exposure:
    """Return what the model has read in this session and in its parent sessions."""
    above = turn.origin.parent
    own = turn.record.exposure
    return exposure_of(above).including(own.sources()) if above else own


def policy_flow_of(turn: Turn, exposure: Exposure) -> FlowState:
    """Return the information flow for a policy check; `exposure` is what the model had read before the current step."""
    records = tuple(_records(turn))
    informed = tuple(grant for record in records for grant in record.informed_grants)
    return FlowState(exposure, informed, partial(_is_known_link, turn, records))


def note_sources(turn: Turn, sources: Iterable[Source], call_id: str = "") -> None:
    """Record sources that the session has not read before. Raises StorageError."""
    clean = turn.deps.redactor.clean
    named = [structs.replace(each, name=clean(plain(each.name, MAX_NAME_CHARACTERS))) for each in sources]
    if fresh := exposure_of(turn).missing(named):
        turn.emit(SourcesRead(fresh, call_id))


async def note_call(turn: Turn, tool: Tool, proposal: Proposal, call_id: str, *, has_network: bool) -> None:
    """Record what a call will read. Raises StorageError."""
    effects, policy, place = proposal.effects, turn.deps.policy, turn.record.cwd
    look = partial(policy.sources_of, effects, place, has_network=has_network)
    read = await within_timeout(effects, look, (UNKNOWN_OUTPUT,))
    note_sources(turn, (*tool.tool_metadata.brings, *read), call_id)


def _records(turn: Turn) -> Iterable[Record]:
    yield turn.record
    if above := turn.origin.parent:
        yield from _records(above)


def _is_known_link(turn: Turn, records: Iterable[Record], url: str) -> bool:
    """Return whether a URL occurs verbatim in the user's prompts or in a network source."""
    return any(
        url in message.text
        if isinstance(message, ToolMessage)
        else message.origin == "user" and url in typed_words_in(message.parts)
        for record in records
        for message in record.messages
        if isinstance(message, UserMessage)
        or (isinstance(message, ToolMessage) and _is_from_network(turn, message))
    )


def _is_from_network(turn: Turn, message: ToolMessage) -> bool:
    tool = turn.deps.toolbox.find(message.name)
    return tool is not None and "network" in tool.tool_metadata.capabilities
