"""Run or launch commands on this machine; `close` ends all their processes."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from subprocess import DEVNULL

from anyio import CancelScope, CapacityLimiter
from anyio.to_thread import run_sync
from msgspec import Struct, structs

from hermes_acp.core.errors import WorkspaceError
from hermes_acp.core.ports.workspace_ports import Command, CommandResult, LiveProcess
from hermes_acp.core.proposals import Progress
from hermes_acp.workspaces import ripgrep
from hermes_acp.workspaces.command_output import BoundedOutput
from hermes_acp.workspaces.output_files import OutputFolder
from hermes_acp.workspaces.processes.background_processes import (
    BackgroundProcesses,
    LocalProcess,
    start_process,
)
from hermes_acp.workspaces.processes.process_spawn import ShellCommand
from hermes_acp.workspaces.processes.process_tree import ProcessExit, ProcessRegistry, run_shell
from hermes_acp.workspaces.processes.rlimit_tags import tag_of, tagged_argv
from hermes_acp.workspaces.processes.side_pipes import side_pipes
from hermes_acp.workspaces.sandbox.command_sandbox import Sandbox, SandboxedCommand
from hermes_acp.workspaces.sandbox.git_use import names_git
from hermes_acp.workspaces.sandbox.sandbox_policy import CommandMode
from hermes_acp.workspaces.sandboxed_search import MAX_OUTPUT_BYTES, SearchOutput

STILL_RUNNING = (
    "\n[still running in the background; further output is lost unless it is redirected to a file]"
)
ERRORS_APART = 'exec "$0" -c "$2" 2>&"$1"'


class PipedResult(Struct, frozen=True):
    """The result of a command with its own input: output, errors, and the exit code, or None if it was killed.

    `remarks` are reports from its sandbox.
    """

    output: str
    errors: str
    exit_code: int | None
    timed_out: bool = False
    remarks: str = ""


class LocalCommands:
    """Runs one workspace's commands; `locate` resolves their folders, `environment` returns their variables."""

    def __init__(
        self,
        roots: Sequence[str],
        locate: Callable[[str], str],
        environment: Callable[[], Mapping[str, str]],
        registry: ProcessRegistry,
        outputs: OutputFolder,
        sandbox: Sandbox,
    ) -> None:
        """Initialise without starting anything."""
        self._roots = tuple(roots)
        self._locate = locate
        self._environment = environment
        self._threads = CapacityLimiter(4)
        self._registry = registry
        self._outputs = outputs
        self._sandbox = sandbox
        self._lasting: list[SandboxedCommand] = []
        self._at_work: set[str] = set()
        """The marks of confined commands that may change files and whose processes may still be running."""
        self._processes = BackgroundProcesses()
        self._count = 0

    @property
    def live(self) -> Mapping[str, LiveProcess]:
        """Return the launched processes by their short names."""
        return self._processes.by_name

    def confines(self, command: Command) -> bool:
        """Return whether a command would run in a sandbox here."""
        return self._sandbox.could_confine(command)

    async def run(self, command: Command, progress: Progress) -> CommandResult:
        """Run a command in the user's shell; on timeout or cancellation, all its processes are dead on return.

        If a command ends on its own, its background processes keep running until `close`. The exit code after a signal
        is 128 plus the signal's number, as in shells.
        """
        self._registry.begin()
        mode = CommandMode(opens_git=names_git(command.line))
        confined = await self._prepare(self._shell(command), command, mode)
        self._count += 1
        name = f"run{self._count}"
        output = BoundedOutput(keep=lambda: self._outputs.fresh(name))

        def take(chunk: bytes) -> None:
            if text := output.feed(chunk):
                progress.output(text)

        try:
            ending, told = await self._see_through(confined, take)
        finally:
            rest = output.finish()
        if rest:
            progress.output(rest)
        text = output.text() + told
        if confined.is_confined:
            text += self._sandbox.explain(confined, text, ending.exit_code)
        if ending.left_running:
            text += STILL_RUNNING
        return CommandResult(
            text, ending.exit_code, timed_out=ending.timed_out, left_running=ending.left_running
        )

    async def run_piped(self, command: Command, given: bytes) -> PipedResult:
        """Run a command with `given` as its standard input, keeping its errors separate from its output.

        Both are bounded by `BoundedOutput`. The command ends as with `run`. Raises WorkspaceError if it cannot start.
        """
        self._registry.begin()
        output, errors = BoundedOutput(), BoundedOutput()
        async with side_pipes(given, errors.take) as pipes:
            shell = _with_errors_apart(self._shell(command), pipes.errors)
            mode = CommandMode(opens_git=names_git(command.line))
            confined = await self._prepare(shell, command, mode)
            ending, told = await self._see_through(confined, output.take, pipes.reading)
        if confined.is_confined:
            told += self._sandbox.explain(confined, errors.text(), ending.exit_code)
        return PipedResult(
            output.text(), errors.text(), ending.exit_code, timed_out=ending.timed_out, remarks=told
        )

    async def _see_through(
        self, confined: SandboxedCommand, take: Callable[[bytes], None], given: int = DEVNULL
    ) -> tuple[ProcessExit, str]:
        """Run a command until it ends, then quarantine anything that it created without permission and report that."""
        is_lasting = False
        told: list[str] = []

        def settle() -> None:
            told.append(self._sandbox.settle(confined, is_over=not is_lasting))

        try:
            ending = await run_shell(confined.shell, take, self._registry, self._threads, given=given)
            is_lasting = ending.left_running
        except OSError as error:
            raise _cannot_start(confined.shell, error) from error
        finally:
            if self._sandbox.has_confined:
                with CancelScope(shield=True):
                    await run_sync(settle, limiter=self._threads)
            self._clear(confined, is_lasting=is_lasting)
        return ending, "".join(told)

    async def launch(self, command: Command, *, in_terminal: bool = False) -> LiveProcess:
        """Start a command and leave it running. Raises WorkspaceError if it cannot start or too many are running."""
        name = self._processes.next_name()
        self._registry.begin()
        mode = CommandMode(in_terminal=in_terminal)
        confined = await self._prepare(self._shell(command), command, mode)

        def finish(output: str, exit_code: int, is_lasting: bool) -> str:
            has_confined = self._sandbox.has_confined
            told = self._sandbox.settle(confined, is_over=not is_lasting) if has_confined else ""
            self._clear(confined, is_lasting=is_lasting)
            return told + (self._sandbox.explain(confined, output, exit_code) if confined.is_confined else "")

        def start() -> LocalProcess:
            started = start_process(confined.shell, in_terminal=in_terminal)
            self._registry.register_process(started[0].pid, confined.shell.mark)
            log = self._outputs.fresh(name)
            return LocalProcess(name, command.line, confined.shell, started, self._registry, log, finish)

        try:
            with CancelScope(shield=True):
                self._processes.add(await run_sync(start, limiter=self._threads))
        except OSError as error:
            finish("", 1, False)
            raise _cannot_start(confined.shell, error) from error
        return self._processes.by_name[name]

    async def close(self) -> None:
        """Kill everything that this workspace's commands left running, and remove their stored outputs."""
        await self._processes.end()
        await self._registry.close(self._threads)
        for confined in self._lasting:
            await run_sync(partial(self._sandbox.settle, confined, is_over=True), limiter=self._threads)
            self._sandbox.release(confined)
        self._lasting.clear()
        await run_sync(self._sandbox.close, limiter=self._threads)
        await run_sync(self._outputs.remove, limiter=self._threads)

    async def _prepare(self, shell: ShellCommand, command: Command, mode: CommandMode) -> SandboxedCommand:
        def confine() -> SandboxedCommand:
            if not self._sandbox.takes(command):
                self._sandbox.quarantine_pending()
                return SandboxedCommand(
                    structs.replace(shell, argv=tagged_argv(tag_of(shell.mark), shell.argv))
                )
            is_read_only = command.confinement == "read_only"
            return self._sandbox.confine(
                shell, self._registry, structs.replace(mode, is_read_only=is_read_only)
            )

        return await self._confined(shell, confine)

    async def _confined(
        self, shell: ShellCommand, confine: Callable[[], SandboxedCommand]
    ) -> SandboxedCommand:
        prepared: list[SandboxedCommand] = []
        try:
            with CancelScope(shield=True):
                prepared.append(await run_sync(confine, limiter=self._threads))
        except OSError as error:
            raise _cannot_start(shell, error) from error
        if prepared[0].is_confined and not prepared[0].mode.is_read_only:
            self._at_work.add(shell.mark)
        return prepared[0]

    async def search_sandboxed(
        self, argv: Sequence[str], folder: str, timeout_s: float
    ) -> SearchOutput | None:
        """Run a search that running commands cannot redirect out of the folders; return None if none are running."""
        if not self._at_work:
            return None
        shell = ShellCommand(tuple(argv), folder, self._environment(), self._registry.fresh_mark(), timeout_s)
        confined = await self._confined(shell, partial(self._sandbox.confine_search, shell, self._registry))
        content = bytearray()
        endings: list[ProcessExit] = []
        try:
            with CancelScope() as scope:

                def take(chunk: bytes) -> None:
                    content.extend(chunk)
                    if len(content) > MAX_OUTPUT_BYTES:
                        scope.cancel()

                endings.append(await run_shell(confined.shell, take, self._registry, self._threads))
        except OSError as error:
            raise _cannot_start(shell, error) from error
        finally:
            self._sandbox.release(confined)
        is_whole = any(not each.timed_out for each in endings)
        return SearchOutput(bytes(content), is_whole, endings[0].exit_code if endings else None)

    def _clear(self, confined: SandboxedCommand, *, is_lasting: bool) -> None:
        """Clean up after a command now, or at `close` if part of it is still running in its sandbox."""
        if is_lasting:
            self._lasting.append(confined)
        else:
            if (
                self._sandbox.found.way == "bubblewrap"
            ):  # outside a sandbox, a process may have closed its output
                self._at_work.discard(confined.shell.mark)
            self._sandbox.release(confined)

    def _shell(self, command: Command) -> ShellCommand:
        cwd = self._locate(command.cwd)
        if "\0" in command.line or not command.line.strip():
            raise WorkspaceError(
                f"{command.line[:80]!r} is not a command.", hint="Use one without NUL characters."
            )
        try:
            command.line.encode()
        except UnicodeEncodeError as error:
            raise WorkspaceError("The command is not valid Unicode.", hint="Write it again.") from error
        program = ripgrep.find_program("bash", self._environment(), self._roots) or "/bin/sh"
        mark = self._registry.fresh_mark()
        return ShellCommand((program, "-c", command.line), cwd, self._environment(), mark, command.timeout_s)


def _with_errors_apart(shell: ShellCommand, errors: int) -> ShellCommand:
    """Return a shell's command with its standard error on a separate descriptor."""
    program, _, line = shell.argv
    return structs.replace(
        shell, argv=(program, "-c", ERRORS_APART, program, str(errors), line), descriptors=(errors,)
    )


def _cannot_start(shell: ShellCommand, error: OSError) -> WorkspaceError:
    return WorkspaceError(
        f"Could not run a command in {shell.cwd}: {error.strerror or error}.",
        hint="Check that the folder exists; put a very long command into a script.",
    )
