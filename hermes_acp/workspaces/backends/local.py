"""The workspace on this machine: its disk, its shell, its ripgrep.

Knows: the session's folders. Does not know: editors, tools, policy.
"""

import glob
import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from secrets import token_hex

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from msgspec import structs

from hermes_acp.core.errors import BadRequest, WorkspaceTrouble
from hermes_acp.core.exchanges import Command, CommandEnd, Entry, Match, SearchQuery
from hermes_acp.core.proposals import Progress
from hermes_acp.workspaces import confine, disk, ripgrep
from hermes_acp.workspaces.deathwatch import Deathwatch
from hermes_acp.workspaces.output import BoundedOutput
from hermes_acp.workspaces.processes import MARK, Leftovers, Shell, run_shell
from hermes_acp.workspaces.surroundings import command_environment


class LocalWorkspace:
    """Files and commands of this machine, confined to `roots`; `private` is a folder no search looks into."""

    def __init__(
        self, cwd: str, roots: tuple[str, ...], environment: Mapping[str, str], private: str = ""
    ) -> None:
        self.cwd = cwd
        self._private = private
        self.roots = roots
        self._given = environment
        self._threads = CapacityLimiter(4)
        self._ending_threads = CapacityLimiter(4)
        self._leftovers = Leftovers()
        self._watch = Deathwatch(MARK)

    @cached_property
    def _environment(self) -> dict[str, str]:
        return command_environment(self._given)

    def locate(self, path: str) -> str:
        """Resolve a path, relative ones from cwd, links followed. Raises OutsideRoots."""
        return confine.locate(path, self.cwd, self.roots)

    async def read(self, path: str) -> bytes | None:
        """Give a regular file's bytes; None where there is no such file."""
        return await run_sync(disk.read_file, self.locate(path), self.roots, limiter=self._threads)

    async def read_to_change(self, path: str) -> bytes | None:
        """Give a regular file's bytes: the disk holds nothing unsaved."""
        return await self.read(path)

    async def write(self, path: str, content: bytes) -> None:
        """Replace or create a file whole. Raises WorkspaceTrouble where a link leads `path` elsewhere."""
        resolved = self.locate(path)
        if resolved != os.path.normpath(path):
            raise WorkspaceTrouble(
                f"{path} leads to {resolved} through a symbolic link.",
                hint="Write to that path itself if it is meant.",
            )
        await run_sync(disk.replace_file, resolved, content, self.roots, limiter=self._threads)

    async def entries(self, path: str) -> Sequence[Entry]:
        """List one folder, by name."""
        return await run_sync(disk.list_folder, self.locate(path), self.roots, limiter=self._threads)

    async def search(self, query: SearchQuery) -> Sequence[Match]:
        """Find lines, honouring ignore files; hidden files count, `.git` does not."""
        path = self.locate(query.path)
        if not os.path.exists(path):
            raise WorkspaceTrouble(f"There is no {path} to search.", hint="Check the path.")
        leaves_out = query.leaves_out
        if self._private and confine.is_within(path, self._private):
            return []
        if self._private and confine.is_within(self._private, path):
            leaves_out = (*leaves_out, "/" + glob.escape(os.path.relpath(self._private, path)))
        place = structs.replace(query, path=path, leaves_out=leaves_out)
        return await ripgrep.search(place, self._environment, self.roots)

    async def run(self, command: Command, progress: Progress) -> CommandEnd:
        """Run a command in the user's shell; on time-out and on cancellation nothing of it is left on return.

        What a command that ends by itself left in the background goes on until `close`. An exit by a signal
        counts as 128 plus its number, as shells have it.
        """
        cwd = self.locate(command.cwd)
        shell = self._shell(command, cwd)
        output = BoundedOutput()

        def take(chunk: bytes) -> None:
            if text := output.feed(chunk):
                progress.output(text)

        try:
            ending = await run_shell(shell, take, self._leftovers, self._ending_threads, self._watch)
        except OSError as error:
            raise WorkspaceTrouble(
                f"Could not run a command in {cwd}: {error.strerror or error}.",
                hint="Check that the folder exists; put a very long command into a script.",
            ) from error
        if rest := output.finish():
            progress.output(rest)
        text = output.text()
        if ending.left_running:
            text += "\n[still running in the background; its further output is lost: redirect it to a file]"
        return CommandEnd(text, ending.exit_code, ending.timed_out)

    async def close(self) -> None:
        """End what commands of this workspace left running in the background."""
        await self._leftovers.end(self._ending_threads)
        await run_sync(self._watch.close, limiter=self._ending_threads)

    def _shell(self, command: Command, cwd: str) -> Shell:
        if "\0" in command.line or not command.line.strip():
            raise WorkspaceTrouble(
                f"{command.line[:80]!r} is no command.", hint="Give one without NUL characters."
            )
        try:
            command.line.encode()
        except UnicodeEncodeError as error:
            raise WorkspaceTrouble("The command is not valid Unicode.", hint="Write it again.") from error
        program = ripgrep.find_program("bash", self._environment, self.roots) or "/bin/sh"
        mark = f"{self._watch.mark}-{token_hex(8)}"
        return Shell((program, "-c", command.line), cwd, self._environment, mark, command.timeout_s)


class LocalBackend:
    """Opens workspaces on this machine."""

    name = "local"

    def open(
        self, cwd: str, roots: Sequence[str], environment: Mapping[str, str], private: str = ""
    ) -> LocalWorkspace:
        """Open a workspace; `cwd` and `roots` are absolute, and the workspace shows them with links resolved.

        `private` is the resolved path of the agent's own folder, which no search looks into.

        Raises BadRequest for a folder that is none, and OutsideRoots for a `cwd` in none of `roots`.
        """
        for folder in (cwd, *roots):
            if not os.path.isabs(folder) or not os.path.isdir(folder):
                raise BadRequest(
                    f"{folder!r} is not the absolute path of a folder.", hint="Name an existing folder."
                )
        resolved = tuple(dict.fromkeys(os.path.realpath(root) for root in roots))
        return LocalWorkspace(confine.locate(cwd, cwd, resolved), resolved, environment, private)


BACKEND = LocalBackend()
