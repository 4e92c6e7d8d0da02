"""`/shell`: run a command that the user typed, in the same way as the model's commands."""

from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import structs

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.events import NoteAdded
from hermes_acp.core.messages import ToolCall
from hermes_acp.core.untrusted_text import fence
from hermes_acp.sessions.builtin_commands import ActionCommand, CommandServices

if TYPE_CHECKING:
    from hermes_acp.agent.turn.turn import Turn
    from hermes_acp.agent.turn.turn_endings import Ending

TOOL: Final = "terminal"
RAN: Final = "[The user ran this command themselves: {command}\nIts outcome: {status}.]\n{output}"


async def act(services: CommandServices, turn: "Turn", words: str) -> "Ending":
    """Run a command under the policy, show it as a tool call, and add its output as a note for the model.

    Raises BadRequest or StorageError.
    """
    from hermes_acp.agent.calls.tool_calls import run_inner_call
    from hermes_acp.agent.turn.turn_endings import make_ending

    if not words:
        raise BadRequest("/shell needs a command.", hint="Write `/shell git status`, for example.")
    typed = structs.replace(turn, origin=structs.replace(turn.origin, within=turn.id))
    arguments = msgspec.json.encode({"command": words}).decode()
    outcome = await run_inner_call(typed, ToolCall(turn.deps.ids.fresh("call"), TOOL, arguments))
    output = fence(turn.deps.redactor.clean(outcome.text), "Output of this command")
    note = RAN.format(command=words, status=outcome.status, output=output)
    turn.emit(NoteAdded(note, is_outcome=True))
    return make_ending("done")


COMMAND = ActionCommand("Run a command; the model sees its output", "the command", act)
