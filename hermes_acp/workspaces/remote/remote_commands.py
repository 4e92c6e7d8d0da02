"""Run or launch commands on a remote machine; `close` ends all their processes."""

from collections.abc import Callable, Mapping
from secrets import token_hex
from typing import Final

from anyio import CancelScope, move_on_after
from anyio.to_thread import run_sync
from msgspec import Struct

from hermes_acp.core.errors import OutsideRoots, WorkspaceError
from hermes_acp.core.ports.workspace_ports import Command, CommandResult, LiveProcess
from hermes_acp.core.proposals import Progress
from hermes_acp.workspaces.command_environment import command_environment
from hermes_acp.workspaces.command_output import BoundedOutput
from hermes_acp.workspaces.output_files import OutputFolder
from hermes_acp.workspaces.processes.process_spawn import MARK
from hermes_acp.workspaces.remote.command_scripts import kill_script, launch_script, run_script
from hermes_acp.workspaces.remote.remote_host import Channel, Host, Outcome
from hermes_acp.workspaces.remote.remote_process import RemoteProcess
from hermes_acp.workspaces.remote.script_notices import Notice, NoticeReader

MAX_RUNNING: Final = 16
START_TIMEOUT_S: Final = 20.0
KILL_TIMEOUT_S: Final = 15.0
DRAIN_TIMEOUT_S: Final = 0.3
CONNECTION_LOST_CODE: Final = 255
"""The exit code of ssh when the connection is lost; a shell that was killed there has the same code."""
BACKGROUND: Final = "\n[still running in the background; its further output is lost: redirect it to a file]"


class RunStatus(Struct):
    """The known state of one running script."""

    leader: int = 0
    code: int | None = None
    stands: str = ""
    is_nowhere: bool = False
    left_running: bool = False
    is_at_end: bool = False

    def take(self, notice: Notice) -> None:
        """Update the status from a notice."""
        match notice.word:
            case "began" if notice.value.isdigit():
                self.leader = int(notice.value)
            case "ended" if notice.value.isdigit():
                self.code = int(notice.value)
            case "stands":
                self.stands = notice.value
            case "left":
                self.left_running = notice.value != ""
            case "nowhere":
                self.is_nowhere = True
            case _:
                pass


class RemoteCommands:
    """Runs one workspace's commands on a host.

    `locate` resolves their folders; `outputs` stores long outputs in full. On a host that remembers the working
    directory, `on_move` is called with each new one and returns a note about the change. `mark` is the prefix of its
    processes' marks. `live` holds the launched processes, which several hosts can share.
    """

    def __init__(
        self,
        host: Host,
        locate: Callable[[str], str],
        *,
        outputs: OutputFolder | None = None,
        on_move: Callable[[str], str] | None = None,
        mark: str = "",
        live: dict[str, RemoteProcess] | None = None,
    ) -> None:
        self._host = host
        self._locate = locate
        self._variables = command_environment({})
        self._outputs = outputs
        self._on_move = on_move
        self._mark = mark or token_hex(12)
        self._count = 0
        self._live: dict[str, RemoteProcess] = {} if live is None else live
        self._left_running = False
        self._own: list[RemoteProcess] = []
        self._was_used = False

    @property
    def live(self) -> Mapping[str, LiveProcess]:
        """Return the launched processes by their short names."""
        return self._live

    @property
    def has_running(self) -> bool:
        """Whether something that a command started here may still be running."""
        return self._left_running or any(not each.has_ended for each in self._own)

    def confines(self, command: Command) -> bool:
        """Return whether the host is a sandbox, in which case every command is confined."""
        return self._host.is_sandbox

    async def run(self, command: Command, progress: Progress) -> CommandResult:
        """Run a command in the host's shell; on timeout or cancellation, all its processes are dead on return."""
        cwd = self._checked(command)
        token, mark = token_hex(8), self._fresh_mark()
        memory = self._host.folder if self._host.remembers else ""
        script = run_script(
            token, command.line, cwd, {**self._variables, **dict(command.variables), MARK: mark}, memory
        )
        self._was_used = True
        run, timed_out = await self._attempt(script, token, mark, command.timeout_s, progress)
        if run.never_started and not timed_out and await self._host.renew():
            run, timed_out = await self._attempt(script, token, mark, command.timeout_s, progress)
        return self._end(run, command, cwd, timed_out=timed_out)

    async def _attempt(
        self, script: str, token: str, mark: str, timeout_s: float, progress: Progress
    ) -> "tuple[_Run, bool]":
        """Run a script until it ends and return whether it timed out."""
        outputs, name = self._outputs, f"run{self._count}-{self._mark[:8]}"
        output = BoundedOutput(keep=(lambda: outputs.fresh(name)) if outputs else None)
        channel = await self._host.open(script)
        run = _Run(channel, NoticeReader(token), output, progress)
        try:
            timed_out = await self._follow(run, mark, timeout_s)
            await run.learn_of_loss()
        finally:
            await channel.close()
            run.finish()
        return run, timed_out

    async def _follow(self, run: "_Run", mark: str, timeout_s: float) -> bool:
        """Wait for a command to end and return whether it timed out instead."""
        is_over = False
        try:
            with move_on_after(timeout_s):
                await run.read_on(lambda telling: telling.code is not None)
                is_over = True
        finally:
            if not is_over:
                with move_on_after(START_TIMEOUT_S, shield=True):
                    await run.read_on(lambda telling: telling.leader > 0)
                await self._kill(mark, run.telling.leader)
                with move_on_after(DRAIN_TIMEOUT_S, shield=True):
                    await run.read_on(lambda _: False)
        return not is_over

    def _end(self, run: "_Run", command: Command, cwd: str, *, timed_out: bool) -> CommandResult:
        telling, text = run.telling, run.text()
        if telling.is_nowhere:
            raise WorkspaceError(
                f"{command.cwd} is not a folder on {self._host.name}, or is reached through a symbolic link.",
                hint="Use the folder's real path.",
            )
        if timed_out:
            return CommandResult(text, None, timed_out=True)
        if telling.code is None:
            if not telling.leader or run.was_lost:
                reason = run.channel.complaint()
                raise WorkspaceError(
                    f"The connection to {self._host.name} was lost{f': {reason}' if reason else ''}.",
                    hint="Check what the command did before you run it again."
                    if telling.leader
                    else "The command may not have started: check before you run it again.",
                    retryable=True,
                )
            return CommandResult(text, None, signal="SIGKILL")
        if telling.stands and telling.stands != cwd and self._on_move:
            text += self._on_move(telling.stands)
        if telling.left_running:
            self._left_running = True
            text += BACKGROUND
        return CommandResult(text, telling.code, left_running=telling.left_running)

    async def launch(self, command: Command, *, in_terminal: bool = False) -> RemoteProcess:
        """Start a command and leave it running. Raises WorkspaceError if it cannot start or too many are running."""
        cwd = self._checked(command)
        if sum(not each.has_ended for each in self._live.values()) >= MAX_RUNNING:
            raise WorkspaceError(f"{MAX_RUNNING} processes are running already.", hint="Kill one first.")
        mark, name = self._fresh_mark(), f"p{len(self._live) + 1}"
        variables = {**self._variables, **dict(command.variables), MARK: mark}
        process = RemoteProcess(
            self._host,
            name,
            command.line,
            mark,
            in_terminal=in_terminal,
            is_confined=command.must_be_confined,
        )
        self._live[name] = process
        self._own.append(process)
        self._was_used = True
        script = launch_script(self._host.folder, name, command.line, cwd, variables, in_terminal=in_terminal)
        done = await self._start(script)
        match done.output.decode("utf-8", "replace").split():
            case [*_, "began", leader] if leader.isdigit():
                process.begin(int(leader))
                return process
            case [*_, "nowhere"]:
                told = f"{command.cwd} is not a folder on {self._host.name}."
            case [*_, "terminal"]:
                told = f"{self._host.name} has no program that opens a terminal (script, or python3)."
            case _:
                told = f"{self._host.name} did not start the command."
        process.give_up()
        raise WorkspaceError(told, hint="Start it without a terminal.")

    async def _start(self, script: str) -> Outcome:
        """Run a script that starts a process, even if cancelled, so that the process is not lost."""
        done: list[Outcome] = []
        with CancelScope(shield=True):
            done.append(await self._host.call(script))
        return done[0]

    async def leave(self) -> None:
        """Kill everything that commands left running here and disconnect, but keep the outputs."""
        with CancelScope(shield=True):
            if self._was_used:
                with move_on_after(KILL_TIMEOUT_S):
                    await self._try_kill(self._mark, 0)
            await self._host.close()

    async def close(self) -> None:
        """Kill everything that this workspace's commands left running, disconnect, and remove the outputs."""
        await self.leave()
        if self._outputs:
            with CancelScope(shield=True):
                await run_sync(self._outputs.remove)

    async def _kill(self, mark: str, leader: int) -> None:
        """Kill a command and everything that it started; if that fails, abandon the host and everything on it."""
        with CancelScope(shield=True):
            is_done = False
            with move_on_after(KILL_TIMEOUT_S):
                is_done = await self._try_kill(mark, leader)
            if not is_done and not await self._host.renew():
                raise WorkspaceError(
                    f"It is unknown whether the command ended on {self._host.name}.",
                    hint="Check the processes there.",
                )

    async def _try_kill(self, mark: str, leader: int) -> bool:
        try:
            done = await self._host.call(kill_script(mark, leader))
        except WorkspaceError:
            return False
        return b"struck" in done.output

    def _checked(self, command: Command) -> str:
        if "\0" in command.line or not command.line.strip():
            raise WorkspaceError(
                f"{command.line[:80]!r} is not a command.", hint="Use one without NUL characters."
            )
        try:
            command.line.encode()
        except UnicodeEncodeError as error:
            raise WorkspaceError("The command is not valid Unicode.", hint="Write it again.") from error
        if command.must_be_confined and not self._host.is_sandbox:
            raise WorkspaceError(
                f"Not run: {self._host.name} cannot keep a command from the network, or from what rules deny.",
                hint="Set `unsandboxed: true` to ask the user.",
            )
        try:
            return self._locate(command.cwd)
        except OutsideRoots as error:
            raise OutsideRoots(error.message, hint="Run it in one of these folders.") from error

    def _fresh_mark(self) -> str:
        self._count += 1
        return f"{self._mark}-{token_hex(8)}"


class _Run:
    """The output of one running script, and the notices it sent."""

    def __init__(
        self, channel: Channel, reader: NoticeReader, output: BoundedOutput, progress: Progress
    ) -> None:
        self.channel = channel
        self.telling = RunStatus()
        self.was_lost = False
        self._reader = reader
        self._output = output
        self._progress = progress

    async def read_on(self, is_enough: Callable[[RunStatus], bool]) -> None:
        """Read until enough is known or the output ends."""
        while not self.telling.is_at_end and not is_enough(self.telling):
            chunk = await self.channel.receive()
            self.telling.is_at_end = not chunk
            data, notices = self._reader.feed(chunk)
            for notice in notices:
                self.telling.take(notice)
            self._show(data)

    def finish(self) -> None:
        """Process the text that was held back, once the output has ended."""
        self._show(self._reader.rest())
        if rest := self._output.finish():
            self._progress.output(rest)

    @property
    def never_started(self) -> bool:
        """Whether the host did not even start the script, for example because it has run out of processes."""
        return not self.telling.leader

    async def learn_of_loss(self) -> None:
        """If a command ended without a notice, find out whether the connection was lost."""
        if self.telling.is_at_end and self.telling.code is None:
            with move_on_after(DRAIN_TIMEOUT_S) as scope:
                code = await self.channel.wait()
                self.was_lost = code < 0 or code == CONNECTION_LOST_CODE or bool(self.channel.complaint())
            self.was_lost = self.was_lost or scope.cancelled_caught

    def text(self) -> str:
        """Return the kept output."""
        return self._output.text()

    def _show(self, data: bytes) -> None:
        if data and (text := self._output.feed(data)):
            self._progress.output(text)
