"""initialize: negotiate the version and announce the capabilities."""

from typing import Final

from hermes_acp import __version__
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.extensions.meta_extensions import extension_meta
from hermes_acp.frontends.acp.v2.auth import auth_methods
from hermes_protocol import v2

VERSION: Final = 2


def initialize(client: ClientConnection, params: v2.InitializeRequest) -> v2.InitializeResponse:
    """Answer a client that speaks this version or a later one."""
    client.greet(VERSION, params)
    return v2.InitializeResponse(
        protocol_version=VERSION,
        info=v2.Implementation(name="hermes-acp", title="Hermes", version=__version__),
        capabilities=v2.AgentCapabilities(
            session=v2.SessionCapabilities(
                prompt=v2.PromptCapabilities(
                    image=v2.PromptImageCapabilities(),
                    audio=v2.PromptAudioCapabilities() if client.offers_speech else v2.UNSET,
                    embedded_context=v2.PromptEmbeddedContextCapabilities(),
                ),
                mcp=v2.McpCapabilities(
                    stdio=v2.McpStdioCapabilities(),
                    http=v2.McpHttpCapabilities(),
                    acp=v2.McpAcpCapabilities() if client.offers_unstable else v2.UNSET,
                ),
                delete=v2.SessionDeleteCapabilities(),
                additional_directories=v2.SessionAdditionalDirectoriesCapabilities(),
            ),
            auth=v2.AgentAuthCapabilities(),
            meta=extension_meta(
                params.capabilities, unstable=client.offers_unstable, speech=client.offers_speech
            ),
        ),
        auth_methods=auth_methods(params.capabilities),
    )


METHOD = Method(v2.InitializeRequest, initialize, is_open_before_initialize=True)
