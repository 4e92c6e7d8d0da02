"""workspace/executeCommand: carry an action out.

pygls' own way of doing this loses `$/cancelRequest`, so it is taken over.
"""

from lsprotocol import types
from lsprotocol.types import LSPErrorCodes
from pygls.exceptions import JsonRpcException

from hermes_acp.core.errors import BadRequest
from hermes_acp.faces.lsp.action import COMMAND_PREFIX
from hermes_acp.faces.lsp.desk import Desk
from hermes_acp.faces.lsp.feature import Request
from hermes_acp.faces.lsp.places import find_place, read_target


async def _execute(desk: Desk, params: types.ExecuteCommandParams) -> object:
    from hermes_acp.faces.lsp.errands import carry_out

    name = params.command.removeprefix(COMMAND_PREFIX)
    if not params.command.startswith(COMMAND_PREFIX) or name not in desk.actions:
        known = ", ".join(f"{COMMAND_PREFIX}{each}" for each in desk.actions)
        raise BadRequest(f"There is no command {params.command[:80]!r}.", hint=f"There are: {known}.")
    place = find_place(read_target(params.arguments), desk.documents)
    if place.target.version not in (None, place.document.version):
        raise JsonRpcException(
            "The document was changed since this was offered. Choose it again.",
            LSPErrorCodes.ContentModified.value,
        )
    return await carry_out(desk, params.command, desk.actions.open(name), place, params.work_done_token)


FEATURE = Request(types.WORKSPACE_EXECUTE_COMMAND, _execute, is_taken_over=True)
