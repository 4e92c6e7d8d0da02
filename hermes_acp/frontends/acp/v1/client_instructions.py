"""Read a client's own system instructions.

They are trusted like the client's settings, so they are not scanned for injected instructions.
"""

from typing import TYPE_CHECKING

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.events import InstructionsGiven
from hermes_acp.frontends.acp.messages import errors
from hermes_protocol import v1

if TYPE_CHECKING:
    from msgspec import UnsetType


def instructions_of(prompt: "v1.SystemPrompt | UnsetType | None") -> InstructionsGiven | None:
    """Return the instructions in a request. Raises BadRequest for an unsupported mode or content."""
    if not prompt:
        return None
    if prompt.mode not in v1.SYSTEM_PROMPT_MODE_VALUES:
        raise BadRequest(errors.bad_system_prompt_mode(prompt.mode))
    texts = [block.text for block in prompt.content if isinstance(block, v1.TextContent)]
    if len(texts) != len(prompt.content) or not "".join(texts).strip():
        raise BadRequest(errors.EMPTY_SYSTEM_PROMPT)
    return InstructionsGiven("\n\n".join(texts), overrides=prompt.mode == "override")
