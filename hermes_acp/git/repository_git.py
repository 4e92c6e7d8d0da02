"""Run git for the program itself on a user's repository, so that nothing in the repository can start programs.

Hooks, filters, merge drivers, signing programs, monitors and transports are disabled. As a result, files are checked
out and stored unconverted; Git LFS files remain pointers. Everything here blocks.
"""

import os
import subprocess
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from tempfile import TemporaryFile
from typing import Final

from msgspec import Struct

from hermes_acp.core.errors import WorkspaceError
from hermes_acp.git.program_settings import INERT_SETTINGS, OFFLINE_SETTINGS
from hermes_acp.git.safe_git import GitProgram, settings_variables
from hermes_acp.git.work_tree import find_work_tree

TIMEOUT_S: Final = 600.0
MAX_ERROR_CHARACTERS: Final = 400
AT_ONCE: Final = ("/commondir: ", "/locked' for writing")
"""Texts in git's error messages that indicate a race: another git was just adding a work tree, so that one of its files
was still empty, or was just pruning work trees, so that the files of a new one were removed.
"""
RETRY_WAITS_S: Final = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
OWN_SETTINGS: Final = (
    ("advice.detachedHead", "false"),
    ("branch.autoSetupMerge", "false"),
    ("color.ui", "false"),
    ("commit.gpgSign", "false"),
    ("commit.template", ""),
    ("core.commentChar", "#"),
    ("core.quotePath", "false"),
    ("core.sparseCheckout", "false"),
    ("merge.autoStash", "false"),
    ("merge.conflictStyle", "merge"),
    ("merge.renormalize", "false"),
    ("merge.verifySignatures", "false"),
    ("rebase.autoSquash", "false"),
    ("rebase.autoStash", "false"),
    ("rebase.backend", "merge"),
    ("rebase.forkPoint", "false"),
    ("rebase.rebaseMerges", "false"),
    ("rebase.updateRefs", "false"),
    ("rerere.enabled", "false"),
    ("status.showUntrackedFiles", "all"),
)
"""Settings that a repository may contain and that would change what the commands here do."""
PROGRAM_SETTINGS: Final = r"^(filter|merge|diff)\..*\.(clean|smudge|process|driver|command|textconv)$"
MAX_LISTED: Final = 500


class GitFailed(WorkspaceError):
    """A git command failed; `status` is its exit code and `output` what it printed."""

    code = "git_failed"

    def __init__(self, message: str, status: int = -1, output: str = "", *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.output = output


class WorkingCopy(Struct, frozen=True):
    """A work tree: its top folder, its own git directory, and the git directory that all work trees share."""

    top: str
    git_dir: str
    common_dir: str


class RepositoryGit:
    """Runs git commands in one work tree; if git outlives a killed process, it keeps the locks in `held` open."""

    def __init__(self, program: GitProgram, top: str, held: Sequence[int] = ()) -> None:
        self._program = program
        self._held = tuple(held)
        self._settings: tuple[tuple[str, str], ...] | None = None
        self.top = top

    @property
    def variables(self) -> Mapping[str, str]:
        """The variables of this process."""
        return self._program.variables

    def at(self, top: str, held: Sequence[int] = ()) -> "RepositoryGit":
        """Return an instance for another work tree, with the same locks or others."""
        return RepositoryGit(self._program, top, held or self._held)

    def run(
        self,
        *arguments: str,
        fine: Sequence[int] = (0,),
        given: bytes = b"",
        variables: Mapping[str, str] | None = None,
    ) -> str:
        """Run a command to completion and return its output. Raises GitFailed."""
        if self._settings is None:
            self._settings = (*INERT_SETTINGS, *OFFLINE_SETTINGS, *OWN_SETTINGS, *self._without_programs())
        for wait_s in RETRY_WAITS_S:
            try:
                return self._run(arguments, self._settings, fine, given, variables or {})
            except GitFailed as error:
                if not any(sign in str(error) for sign in AT_ONCE):
                    raise
                time.sleep(wait_s)
        return self._run(arguments, self._settings, fine, given, variables or {})

    def run_with(
        self, settings: Sequence[tuple[str, str]], *arguments: str, variables: Mapping[str, str]
    ) -> str:
        """Run a command with special settings, such as those for access to other machines. Raises GitFailed."""
        return self._run(arguments, settings, (0,), b"", variables)

    def try_run(self, *arguments: str) -> str | None:
        """Run a command and return its output, or None if it fails."""
        try:
            return self.run(*arguments)
        except GitFailed:
            return None

    def _without_programs(self) -> Iterator[tuple[str, str]]:
        """Yield settings that disable every program that the repository configures for its files."""
        listing = ("config", "--null", "--name-only", "--get-regexp", PROGRAM_SETTINGS)
        found = self._run(listing, (*INERT_SETTINGS, *OFFLINE_SETTINGS), (0, 1), b"", {})
        names = [name for name in dict.fromkeys(found.split("\0")) if name]
        if len(names) > MAX_LISTED:
            raise GitFailed(f"The repository {self.top} names too many programs for its files.")
        for name in names:
            section, _, rest = name.partition(".")
            key = rest.rpartition(".")[2].casefold()
            # An empty merge driver would count as a successful merge.
            yield name, "false" if key == "driver" else ""
            if section == "filter":
                yield f"{name.rpartition('.')[0]}.required", "false"

    def _run(
        self,
        arguments: Sequence[str],
        settings: Sequence[tuple[str, str]],
        fine: Sequence[int],
        given: bytes,
        variables: Mapping[str, str],
    ) -> str:
        with TemporaryFile() as source:
            source.write(given)
            source.seek(0)
            process = self._start(arguments, {**settings_variables(settings), **variables}, source.fileno())
            with _reaped(process):
                try:
                    output, errors = process.communicate(timeout=TIMEOUT_S)
                except subprocess.TimeoutExpired as error:
                    raise GitFailed(f"git {arguments[0]} took too long in {self.top}.") from error
        text = output.decode("utf-8", "surrogateescape")
        if process.returncode not in fine:
            said = errors.decode("utf-8", "replace").strip()[:MAX_ERROR_CHARACTERS] or "no error message"
            raise GitFailed(f"git {arguments[0]} failed in {self.top}: {said}", process.returncode, text)
        return text

    def _start(
        self, arguments: Sequence[str], variables: Mapping[str, str], source: int
    ) -> "subprocess.Popen[bytes]":
        try:
            return self._program.start(arguments, self.top, variables, source, self._held)
        except (OSError, ValueError) as error:
            raise GitFailed(f"git {arguments[0]} could not be started in {self.top}: {error}.") from error


@contextmanager
def _reaped(process: "subprocess.Popen[bytes]") -> Generator[None]:
    try:
        yield
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        for stream in (process.stdout, process.stderr):
            if stream:
                stream.close()


def find_program(variables: Mapping[str, str]) -> GitProgram:
    """Return the first git found on PATH in an absolute folder. Raises WorkspaceError if there is none."""
    for folder in variables.get("PATH", os.defpath).split(os.pathsep):
        program = os.path.join(folder, "git")
        if os.path.isabs(folder) and os.path.isfile(program) and os.access(program, os.X_OK):
            return GitProgram(program, variables)
    raise WorkspaceError("git is not installed.", hint="Install git to work on cards in worktrees.")


def find_working_copy(program: GitProgram, folder: str, held: Sequence[int] = ()) -> WorkingCopy | None:
    """Return the work tree that contains a folder, or None outside repositories. Raises WorkspaceError."""
    top = find_work_tree(os.path.realpath(folder))
    if top is None:
        return None
    git = RepositoryGit(program, top, held)
    asked = ("rev-parse", "--path-format=absolute", "--show-toplevel", "--git-dir", "--git-common-dir")
    shown, git_dir, common_dir = git.run(*asked).removesuffix("\n").split("\n")
    if os.path.realpath(shown) != top:
        raise WorkspaceError(f"The repository at {top} says that its files are in {shown}.")
    return WorkingCopy(top, git_dir, os.path.realpath(common_dir))
