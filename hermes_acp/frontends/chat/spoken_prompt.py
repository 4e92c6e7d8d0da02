"""Record a prompt between two key presses, let the agent transcribe it, and put the text into the input line."""

import base64
from collections.abc import Mapping

import anyio
from hermes_acp_client.errors import AgentError

from hermes_acp.frontends.chat import messages
from hermes_acp.frontends.chat.agent.agent_link import AgentLost
from hermes_acp.frontends.chat.chat_context import CommandContext
from hermes_acp.frontends.chat.event_presenter import EventPresenter
from hermes_acp.frontends.chat.input.voice_recorder import MIME_TYPE, RecordingFailed, record, recorders
from hermes_acp.frontends.chat.rendering.terminal_text import sanitize_line
from hermes_protocol import own


class SpokenPrompt:
    """Records one prompt at a time, in the task that runs `run`."""

    def __init__(
        self, context: CommandContext, presenter: EventPresenter, variables: Mapping[str, str]
    ) -> None:
        self._context = context
        self._presenter = presenter
        self._variables = variables
        self._is_wanted = anyio.Event()
        self._stop: anyio.Event | None = None
        self._scope: anyio.CancelScope | None = None

    def toggle(self) -> None:
        """Start recording, or end the recording and have it transcribed."""
        if self._stop is not None:
            self._stop.set()
        else:
            self._is_wanted.set()

    def discard(self) -> bool:
        """Discard the recording or its transcription; return whether there was one."""
        if self._scope is None:
            return False
        self._scope.cancel()
        return True

    async def run(self) -> None:
        """Record whenever `toggle` requests it."""
        while True:
            await self._is_wanted.wait()
            with anyio.CancelScope() as self._scope:
                self._presenter.hint = ""
                self._presenter.hint = await self._take()
            self._scope = self._stop = None
            self._is_wanted = anyio.Event()
            self._show("")

    async def _take(self) -> str:
        """Record and transcribe speech, and insert the text into the input line; return a hint if that fails."""
        if not recorders(self._variables):
            return messages.NO_RECORDER
        try:
            agent = await self._context.link.agent()
            if not agent.additions.get("transcription"):
                return messages.NO_TRANSCRIPTION
            self._stop = anyio.Event()
            self._show(messages.RECORDING)
            content = await record(self._variables, self._stop)
            self._show(messages.TRANSCRIBING)
            params = own.SpeechTranscribeParams(mime_type=MIME_TYPE, data=base64.b64encode(content).decode())
            heard = await agent.call("_hermes/speech/transcribe", params, own.SpeechTranscribeResult)
        except RecordingFailed as failure:
            return sanitize_line(str(failure))
        except AgentLost:
            return ""
        except AgentError as error:
            return sanitize_line(error.sentence)
        self._context.screen.insert(heard.text)
        return ""

    def _show(self, state: str) -> None:
        self._presenter.recording_state = state
        self._context.screen.refresh()
