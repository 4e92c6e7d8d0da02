"""Use the editor's own files and terminals through ACP."""

import os
from typing import Final, TypeVar

import anyio
import msgspec
from msgspec import UNSET

from hermes_acp.core.errors import EditorStateUnknown, WorkspaceError
from hermes_acp.core.ports.workspace_ports import Command, CommandResult
from hermes_acp.core.proposals import Progress
from hermes_acp.core.word_breaks import trim_from_break
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.messages import editor
from hermes_protocol import salvage, v1
from hermes_protocol.errors import METHOD_NOT_FOUND, NOT_FOUND, PeerError, PeerGone

T = TypeVar("T")
FILE_TIMEOUT_S: Final = 30.0
OUTPUT_BYTES: Final = 65_536
KILL_S: Final = 2.0
MAX_SIGNAL_LENGTH: Final = 40
SHELL: Final = "bash" if os.access("/bin/bash", os.X_OK) else "/bin/sh"
UNQUOTING_CLIENTS: Final = frozenset({"vscode-acp-client"})
"""Names of editors that join a command and its arguments with spaces and pass them to a shell, so that something other
than the approved command would run.
"""


class _ErrorDetails(msgspec.Struct, frozen=True):
    details: str = ""


class AcpEditor:
    """The file and terminal methods that an editor has announced; none while the editor is unreachable."""

    def __init__(self, client: ClientConnection, session_id: str) -> None:
        self._client = client
        self._session_id = session_id

    @property
    def reads_files(self) -> bool:
        """Whether the editor can read files."""
        fs = self._client.capabilities.fs
        return bool(fs and fs.read_text_file) and self._client.is_reachable

    @property
    def writes_files(self) -> bool:
        """Whether the editor can write files."""
        fs = self._client.capabilities.fs
        return bool(fs and fs.write_text_file) and self._client.is_reachable

    @property
    def runs_commands(self) -> bool:
        """Whether the editor can run commands unchanged."""
        return (
            bool(self._client.capabilities.terminal)
            and not _unquotes(self._client)
            and self._client.is_reachable
        )

    async def read_text(self, path: str, first: int = 1, count: int = 0) -> str | None:
        """Return a file's text from the editor, or None if the editor has no such file. Raises EditorStateUnknown."""
        request = v1.ReadTextFileRequest(
            session_id=self._session_id,
            path=path,
            line=first if count else UNSET,
            limit=count or UNSET,
        )
        try:
            reply = await self._call("fs/read_text_file", request, v1.ReadTextFileResponse, FILE_TIMEOUT_S)
        except (PeerError, PeerGone, TimeoutError) as error:
            if isinstance(error, PeerError) and error.code in (NOT_FOUND, METHOD_NOT_FOUND):
                return None
            raise EditorStateUnknown(
                editor.file_state_unknown(path, _reason(error)),
                hint=editor.FILE_STATE_UNKNOWN_HINT,
            ) from error
        return reply.content

    async def write_text(self, path: str, text: str) -> None:
        """Let the editor write a file; any response except an error counts as success, even `null`.

        Raises WorkspaceError if the editor refuses or does not answer.
        """
        request = v1.WriteTextFileRequest(session_id=self._session_id, path=path, content=text)
        try:
            await self._client.connection.request(
                "fs/write_text_file", request, msgspec.Raw, timeout_s=FILE_TIMEOUT_S
            )
        except (PeerError, PeerGone) as error:
            raise WorkspaceError(editor.not_written(path, _reason(error))) from error
        except TimeoutError as error:
            raise WorkspaceError(editor.write_timed_out(path, FILE_TIMEOUT_S)) from error

    async def run(self, command: Command, progress: Progress) -> CommandResult | None:
        """Run a command in a terminal of the editor, which the call's card shows; always release it at the end.

        If the editor lacks the method, nothing was run; after any other failure, the command may be running in the
        editor, so it must not be run again.
        """
        request = v1.CreateTerminalRequest(
            session_id=self._session_id,
            command=SHELL,
            args=["-c", command.line],
            cwd=command.cwd,
            env=[v1.EnvVariable(name=name, value=value) for name, value in command.variables],
            output_byte_limit=OUTPUT_BYTES,
        )
        try:
            terminal = await self._call("terminal/create", request, v1.CreateTerminalResponse, FILE_TIMEOUT_S)
        except (PeerError, PeerGone, TimeoutError) as error:
            if isinstance(error, PeerError) and error.code == METHOD_NOT_FOUND:
                return None
            raise WorkspaceError(
                editor.not_started(_reason(error)),
                hint=editor.COMMAND_UNKNOWN_HINT,
            ) from error
        progress.terminal(terminal.terminal_id)
        try:
            return await self._follow(terminal.terminal_id, command)
        finally:
            with anyio.move_on_after(KILL_S, shield=True):
                await self._release(terminal.terminal_id)

    async def _follow(self, terminal_id: str, command: Command) -> CommandResult:
        timed_out = False
        exit_code: int | None = None
        signal = ""
        try:
            wait = v1.WaitForTerminalExitRequest(session_id=self._session_id, terminal_id=terminal_id)
            reply = await self._call(
                "terminal/wait_for_exit", wait, v1.WaitForTerminalExitResponse, command.timeout_s
            )
            exit_code = reply.exit_code if isinstance(reply.exit_code, int) else None
            signal = _signal_name(reply.signal or "")
        except TimeoutError:
            timed_out = True
            await self._kill(terminal_id)
        except (PeerError, PeerGone) as error:
            raise WorkspaceError(editor.command_lost(_reason(error))) from error
        except anyio.get_cancelled_exc_class():
            with anyio.move_on_after(KILL_S, shield=True):
                await self._kill(terminal_id)
            raise
        return CommandResult(await self._output(terminal_id), exit_code, timed_out, signal)

    async def _output(self, terminal_id: str) -> str:
        request = v1.TerminalOutputRequest(session_id=self._session_id, terminal_id=terminal_id)
        try:
            reply = await self._call("terminal/output", request, v1.TerminalOutputResponse, FILE_TIMEOUT_S)
        except (PeerError, PeerGone, TimeoutError) as error:
            return editor.no_output(_reason(error))
        if not reply.truncated:
            return reply.output
        rest = trim_from_break(reply.output.encode("utf-8", "replace")).decode()
        return f"{editor.OUTPUT_CUT}{rest}"

    async def _kill(self, terminal_id: str) -> None:
        request = v1.KillTerminalRequest(session_id=self._session_id, terminal_id=terminal_id)
        await self._try("terminal/kill", request)

    async def _release(self, terminal_id: str) -> None:
        request = v1.ReleaseTerminalRequest(session_id=self._session_id, terminal_id=terminal_id)
        await self._try("terminal/release", request)

    async def _try(self, method: str, params: object) -> None:
        try:
            await self._client.connection.request(method, params, msgspec.Raw, timeout_s=KILL_S)
        except (PeerError, PeerGone, TimeoutError):
            return

    async def _call(self, method: str, params: object, shape: type[T], timeout_s: float) -> T:
        raw = await self._client.connection.request(method, params, msgspec.Raw, timeout_s=timeout_s)
        try:
            return salvage.decode(shape, raw)
        except msgspec.MsgspecError as error:
            raise PeerError(0, editor.misshapen_answer(method)) from error


def _unquotes(client: ClientConnection) -> bool:
    """Return whether this client's terminals are known to let a shell parse commands again."""
    implementation = client.greeted.client_info if isinstance(client.greeted, v1.InitializeRequest) else None
    return bool(implementation and implementation.name in UNQUOTING_CLIENTS)


def _signal_name(raw: str) -> str:
    """Return a signal's name, with only safe characters; "a signal" if none are left."""
    name = "".join(each for each in raw if each.isalnum() or each in "+-_ ")[:MAX_SIGNAL_LENGTH].strip()
    return name or (editor.UNNAMED_SIGNAL if raw else "")


def _reason(error: Exception) -> str:
    """Return why an editor refused a request; the SDKs put the reason into the error's data."""
    if not isinstance(error, PeerError):
        return str(error) or editor.NO_ANSWER
    try:
        beside = msgspec.convert(error.data, _ErrorDetails).details
    except msgspec.ValidationError:
        beside = ""
    return (beside or error.message).rstrip(".")
