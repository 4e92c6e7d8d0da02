"""workspace/didChangeConfiguration: other settings, given or to be asked for."""

from lsprotocol import types

from hermes_acp.core.errors import BadRequest
from hermes_acp.faces.lsp.client import ClientTrouble
from hermes_acp.faces.lsp.desk import Desk
from hermes_acp.faces.lsp.feature import Notice
from hermes_acp.faces.lsp.registration import offer_completion
from hermes_acp.faces.lsp.settings import SECTION, concerns_us


def _change(desk: Desk, params: types.DidChangeConfigurationParams) -> None:
    given = params.settings
    if not given and desk.client.can.give_settings:
        desk.tasks.begin(lambda: _ask(desk))
    elif concerns_us(given):
        _take(desk, given)


async def _ask(desk: Desk) -> None:
    params = types.ConfigurationParams(items=[types.ConfigurationItem(section=SECTION)])
    try:
        answer = await desk.client.ask(types.WORKSPACE_CONFIGURATION, params)
    except ClientTrouble as trouble:
        desk.client.warn(trouble.sentence())
        return
    if answer and concerns_us(answer[0]):
        _take(desk, answer[0])


def _take(desk: Desk, given: object) -> None:
    try:
        desk.take_settings(given)
    except BadRequest as error:
        desk.client.warn(error.sentence())
        return
    if desk.settings.inline_completion.enabled:
        offer_completion(desk)


FEATURE = Notice(types.WORKSPACE_DID_CHANGE_CONFIGURATION, _change)
