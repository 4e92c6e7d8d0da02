"""Register our methods and commands with pygls and the editor."""

import uuid
from collections.abc import Awaitable, Callable
from typing import Any, Final, cast

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from hermes_acp.core.plugins import PluginFolder
from hermes_acp.frontends.lsp import messages
from hermes_acp.frontends.lsp.client.lsp_client import ClientError
from hermes_acp.frontends.lsp.code_action import COMMAND_PREFIX
from hermes_acp.frontends.lsp.editor.editor_connection import EditorConnection
from hermes_acp.frontends.lsp.editor.lsp_feature import Feature, Notification, Request

COMPLETION: Final = "text_document_inline_completion"


def _features() -> PluginFolder[Feature]:
    return PluginFolder("hermes_acp.frontends.lsp.features", "FEATURE")


def register_all(server: LanguageServer, editor: EditorConnection) -> None:
    """Register all commands, and all methods except those that depend on a setting."""
    features = _features()
    for name in features:
        feature = features.open(name)
        if isinstance(feature, Notification) or feature.is_offered == "always":
            register(server, editor, feature)
    for name in editor.actions:
        server.command(f"{COMMAND_PREFIX}{name}")(_announced_only)


def register(server: LanguageServer, editor: EditorConnection, feature: Feature) -> None:
    """Register one method with the server."""
    handler = _noticing(editor, feature) if isinstance(feature, Notification) else _answering(editor, feature)
    if feature.is_taken_over:
        _manager(server).add_builtin_feature(feature.method, handler)
    else:
        options = feature.options if isinstance(feature, Request) else None
        server.feature(feature.method, options)(handler)


def _manager(server: LanguageServer) -> Any:
    """Return pygls' registry of methods, which is untyped."""
    return cast("Any", server.protocol.fm)


def _announced_only() -> None:
    """Do nothing: this registers a command with pygls, so that it is announced; `workspace/executeCommand` runs it."""


def _noticing(editor: EditorConnection, notice: Notification) -> Callable[[Any], None]:
    def take(params: Any) -> None:
        notice.take(editor, params)

    return take


def _answering(editor: EditorConnection, request: Request) -> Callable[[Any], Awaitable[object]]:
    async def answer(params: Any) -> object:
        async def work() -> object:
            return await request.answer(editor, params)

        return await editor.tasks.run(work)

    return answer


def offer_completion(editor: EditorConnection) -> None:
    """Register inline completion, at startup or, if the editor supports that, later."""
    feature = _features().open(COMPLETION)
    if feature.method in _manager(editor.server).features:
        return
    if not editor.is_initialized.is_set():
        register(editor.server, editor, feature)
    elif editor.client.can.register_completion:
        register(editor.server, editor, feature)
        editor.tasks.begin(lambda: _announce(editor))
    else:
        editor.client.warn(messages.COMPLETION_NEEDS_RESTART)


async def _announce(editor: EditorConnection) -> None:
    options = types.InlineCompletionRegistrationOptions()
    registration = types.Registration(str(uuid.uuid4()), types.TEXT_DOCUMENT_INLINE_COMPLETION, options)
    try:
        await editor.client.ask(types.CLIENT_REGISTER_CAPABILITY, types.RegistrationParams([registration]))
    except ClientError as error:
        editor.client.warn(error.sentence())
