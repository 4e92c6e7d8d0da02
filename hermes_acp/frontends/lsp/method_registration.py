"""Our methods and commands, made known to pygls and to the editor.

Knows: how a leaf becomes a handler of pygls', what is offered only if its user wants it. Does not know: any method.
"""

import uuid
from collections.abc import Awaitable, Callable
from typing import Any, Final, cast

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from hermes_acp.core.drawers import Drawer
from hermes_acp.faces.lsp.action import COMMAND_PREFIX
from hermes_acp.faces.lsp.client import ClientTrouble
from hermes_acp.faces.lsp.desk import Desk
from hermes_acp.faces.lsp.feature import Feature, Notice, Request

COMPLETION: Final = "text_document_inline_completion"
NEXT_START: Final = (
    "This editor takes inline completion only at the start: restart the language server to have it."
)


def _features() -> Drawer[Feature]:
    return Drawer("hermes_acp.faces.lsp.features", "FEATURE")


def furnish(server: LanguageServer, desk: Desk) -> None:
    """Register every method and command but those that are offered only if wanted."""
    features = _features()
    for name in features:
        feature = features.open(name)
        if isinstance(feature, Notice) or feature.is_offered == "always":
            register(server, desk, feature)
    for name in desk.actions:
        server.command(f"{COMMAND_PREFIX}{name}")(_announced_only)


def register(server: LanguageServer, desk: Desk, feature: Feature) -> None:
    """Let the server answer one method from now on."""
    handler = _noticing(desk, feature) if isinstance(feature, Notice) else _answering(desk, feature)
    if feature.is_taken_over:
        _manager(server).add_builtin_feature(feature.method, handler)
    else:
        options = feature.options if isinstance(feature, Request) else None
        server.feature(feature.method, options)(handler)


def _manager(server: LanguageServer) -> Any:
    """Give pygls' list of methods, whose types it leaves open."""
    return cast("Any", server.protocol.fm)


def _announced_only() -> None:
    """Stand for a command in the list of those there are; `workspace/executeCommand` itself is taken over."""


def _noticing(desk: Desk, notice: Notice) -> Callable[[Any], None]:
    def take(params: Any) -> None:
        notice.take(desk, params)

    return take


def _answering(desk: Desk, request: Request) -> Callable[[Any], Awaitable[object]]:
    async def answer(params: Any) -> object:
        async def work() -> object:
            return await request.answer(desk, params)

        return await desk.tasks.see_through(work)

    return answer


def offer_completion(desk: Desk) -> None:
    """Offer inline completion from now on: announced at the start, and later where the editor takes that."""
    feature = _features().open(COMPLETION)
    if feature.method in _manager(desk.server).features:
        return
    if not desk.is_greeted.is_set():
        register(desk.server, desk, feature)
    elif desk.client.can.register_completion:
        register(desk.server, desk, feature)
        desk.tasks.begin(lambda: _announce(desk))
    else:
        desk.client.warn(NEXT_START)


async def _announce(desk: Desk) -> None:
    options = types.InlineCompletionRegistrationOptions()
    registration = types.Registration(str(uuid.uuid4()), types.TEXT_DOCUMENT_INLINE_COMPLETION, options)
    try:
        await desk.client.ask(types.CLIENT_REGISTER_CAPABILITY, types.RegistrationParams([registration]))
    except ClientTrouble as trouble:
        desk.client.warn(trouble.sentence())
