"""Answer initialize before the event loop is imported.

It also answers a session/new that follows immediately.
An editor shows the agent once these two are answered. Importing the event loop and the rest of the app takes
longer than everything before, so it is done once the editor has its answers. Any other frame, or one of these
two that is malformed, is left for the connection to answer.
"""

import os
import select
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import Struct

from hermes_acp.config.environment import Environment
from hermes_acp.config.speech_offer import offers_speech
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.v1.methods.initialize import METHOD, VERSION
from hermes_protocol import salvage, v1
from hermes_protocol.envelope import Request, classify, encode_result

if TYPE_CHECKING:
    from hermes_acp.mcp.server_definitions import ServerSpec
    from hermes_acp.sessions.session_creation import CreatedSession

MAX_BYTES: Final = 1 << 20
READ_BYTES: Final = 1 << 16
NEXT_FRAME_TIMEOUT_S: Final = 0.02


class Handshake(Struct, frozen=True):
    """The result of the handshake: the bytes that were not answered, and the session that was created, if any.

    `servers` are the MCP servers of the new session.
    """

    unread: bytes
    begun: "CreatedSession | None" = None
    servers: "tuple[ServerSpec, ...]" = ()


def greet(client: ClientConnection, environment: Environment, in_fd: int, out_fd: int) -> Handshake:
    """Answer a valid initialize, then a valid session/new if it follows immediately.

    session/new is answered only if the environment names a model and there is no settings file, which would have to
    be read first.
    """
    read = _read_frame(in_fd, b"")
    frame, _, rest = read.partition(b"\n")
    call = classify(frame)
    if not isinstance(call, Request) or call.method != "initialize":
        return Handshake(read)
    client.offers_unstable = environment.offers_unstable
    client.offers_speech = offers_speech(environment)
    try:
        params = salvage.decode(METHOD.params, call.params, is_stable=not client.offers_unstable)
    except msgspec.MsgspecError:
        return Handshake(read)
    if params.protocol_version > VERSION and environment.offers_draft_v2:
        return Handshake(read)
    _write(out_fd, encode_result(call.id, METHOD.serve(client, params)))
    if b"\n" not in rest:
        if not environment.mentions_a_model() or not select.select([in_fd], [], [], NEXT_FRAME_TIMEOUT_S)[0]:
            return Handshake(rest)
        rest = _read_frame(in_fd, rest)
    return _begin(client, environment, rest, out_fd)


def _begin(client: ClientConnection, environment: Environment, read: bytes, out_fd: int) -> Handshake:
    frame, _, rest = read.partition(b"\n")
    call = classify(frame)
    if not isinstance(call, Request) or call.method != "session/new":
        return Handshake(read)
    if environment.config_file.is_file() or not environment.mentions_a_model():
        return Handshake(read)
    from hermes_acp.clock import SystemClock
    from hermes_acp.config.named_model import named_models
    from hermes_acp.core.available_options import AvailableOptions
    from hermes_acp.core.errors import HermesError
    from hermes_acp.frontends.acp.extensions.client_surface import surface_of
    from hermes_acp.frontends.acp.extensions.editor_trust import is_distrusted
    from hermes_acp.frontends.acp.v1.mcp_servers import specs_of
    from hermes_acp.frontends.acp.v1.options import config_options
    from hermes_acp.frontends.acp.v1.session_modes import mode_state
    from hermes_acp.ids import RandomIds
    from hermes_acp.sessions.session_creation import SessionCreator
    from hermes_acp.storage.session_store import SessionStore

    creator = SessionCreator(
        SessionStore(environment.home), SystemClock(), RandomIds(), environment.is_foreign
    )
    try:
        params = salvage.decode(v1.NewSessionRequest, call.params, is_stable=not client.offers_unstable)
        if (params.system_prompt and client.offers_unstable) or is_distrusted(client, params.meta):
            return Handshake(read)
        servers = specs_of(client, params.mcp_servers)
        roots = params.additional_directories or ()
        begun = creator.begin(params.cwd, roots, surface=surface_of(client))
    except (msgspec.MsgspecError, HermesError):
        return Handshake(read)
    client.is_under_way = True
    offers = AvailableOptions(named_models(environment), allows_bypass=environment.allows_bypass)
    answer = v1.NewSessionResponse(
        session_id=begun.record.session_id,
        modes=mode_state(begun.record, allows_bypass=environment.allows_bypass),
        config_options=config_options(begun.record, offers, client.capabilities),
    )
    _write(out_fd, encode_result(call.id, answer))
    return Handshake(rest, begun, servers)


def _read_frame(in_fd: int, read: bytes) -> bytes:
    """Read until the frame is complete, the input ends, or it is too long."""
    while b"\n" not in read and len(read) < MAX_BYTES:
        try:
            piece = os.read(in_fd, READ_BYTES)
        except OSError:
            return read
        if not piece:
            return read
        read += piece
    return read


def _write(out_fd: int, answer: bytes) -> None:
    """Write all of the data; the connection notices if the client has left."""
    try:
        while answer:
            answer = answer[os.write(out_fd, answer) :]
    except OSError:
        return
