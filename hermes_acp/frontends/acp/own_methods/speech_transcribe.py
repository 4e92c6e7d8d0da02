"""_hermes/speech/transcribe: transcribe a recording, for clients that let people check the text before sending it."""

from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.translation.prompt_parts import recording_of
from hermes_protocol import own


async def transcribe(
    client: ClientConnection, params: own.SpeechTranscribeParams
) -> own.SpeechTranscribeResult:
    """Transcribe a recording; no session is involved.

    Raises BadRequest, ConfigError, AuthRequired or ModelError.
    """
    recording = recording_of(params.mime_type, params.data)
    return own.SpeechTranscribeResult(text=await client.app.voice_service.transcribe(recording))


EXTENSION = Method(own.SpeechTranscribeParams, transcribe, access="any")
