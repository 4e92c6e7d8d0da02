"""initialize: negotiate the version and announce the capabilities."""

from typing import Final

from msgspec import structs

from hermes_acp import __version__
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.extensions.meta_extensions import extension_meta
from hermes_acp.frontends.acp.v1.auth import auth_methods
from hermes_protocol import v1

VERSION: Final = 1


def initialize(client: ClientConnection, params: v1.InitializeRequest) -> v1.InitializeResponse:
    """Answer with version 1, regardless of what was requested."""
    client.greet(VERSION, params)
    unstable = client.offers_unstable
    return v1.InitializeResponse(
        protocol_version=VERSION,
        agent_info=v1.Implementation(name="hermes-acp", title="Hermes", version=__version__),
        agent_capabilities=v1.AgentCapabilities(
            load_session=True,
            prompt_capabilities=v1.PromptCapabilities(
                image=True, audio=client.offers_speech, embedded_context=True
            ),
            mcp_capabilities=v1.McpCapabilities(http=True, sse=True, acp=unstable or v1.UNSET),
            session_capabilities=_of_sessions(unstable=unstable),
            auth=v1.AgentAuthCapabilities(
                logout=v1.LogoutCapabilities(),
                status=v1.AuthStatusCapabilities() if unstable else v1.UNSET,
            ),
            providers=v1.ProvidersCapabilities() if unstable else v1.UNSET,
            meta=extension_meta(params.client_capabilities, unstable=unstable, speech=client.offers_speech),
        ),
        auth_methods=auth_methods(client.capabilities),
    )


def _of_sessions(*, unstable: bool) -> v1.SessionCapabilities:
    stable = v1.SessionCapabilities(
        list=v1.SessionListCapabilities(),
        delete=v1.SessionDeleteCapabilities(),
        resume=v1.SessionResumeCapabilities(),
        close=v1.SessionCloseCapabilities(),
        additional_directories=v1.SessionAdditionalDirectoriesCapabilities(),
    )
    if not unstable:
        return stable
    return structs.replace(
        stable,
        fork=v1.SessionForkCapabilities(),
        archive=v1.SessionArchiveCapabilities(),
        status=v1.SessionStatusCapabilities(),
        title=v1.SessionTitleCapabilities(),
        system_prompt=v1.SessionSystemPromptCapabilities(
            mode=v1.SessionSystemPromptModeCapabilities(override=v1.SessionSystemPromptOverrideCapabilities())
        ),
    )


METHOD = Method(v1.InitializeRequest, initialize, is_open_before_initialize=True)
