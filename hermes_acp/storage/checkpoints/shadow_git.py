"""Run git so that nothing in a workspace can make it execute anything or change the user's repository.

Variables name the repository, its index and its objects, so git never searches for a `.git` in the workspace,
whether a folder or a file that points elsewhere. Only the configuration written here applies, not the system,
global or workspace one, so no filter, hook, monitor, pager, driver or signer can start. The repository's own
attributes take precedence over those in a workspace and switch off every conversion, so files are stored byte
for byte. Source: git(1), gitattributes(5), `git help environment`.
"""

import os
import subprocess
import sys
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from threading import Event
from types import MappingProxyType
from typing import IO, Any, Final

from hermes_acp.core.ports.checkpoint_ports import CheckpointError
from hermes_acp.git.program_settings import INERT_SETTINGS, OFFLINE_SETTINGS
from hermes_acp.git.safe_git import GitProgram, settings_text
from hermes_acp.storage.private_files import write_whole

CONFIG: Final = """[core]
\trepositoryformatversion = 0
\tbare = true
\tfilemode = true
\tsymlinks = true
\tignorecase = false
\tprecomposeunicode = false
\tprotectNTFS = false
\tprotectHFS = false
\tautocrlf = false
\tsafecrlf = false
\tuntrackedCache = false
\tpreloadIndex = true
\tlogAllRefUpdates = false
\tcompression = 1
\tbigFileThreshold = 64m
[index]
\tversion = 4
\tsparse = false
[feature]
\tmanyFiles = false
""" + settings_text((*INERT_SETTINGS, *OFFLINE_SETTINGS))
ATTRIBUTES: Final = "* -text -crlf -ident -diff -merge !eol !filter !working-tree-encoding\n"
VARIABLES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_GLOB_PATHSPECS": "0",
        "GIT_NOGLOB_PATHSPECS": "0",
        "GIT_ICASE_PATHSPECS": "0",
    }
)
BORROWED: Final = "borrowed"
"""The folder for objects of the user's repository that have not been copied yet; see `borrowed_objects`."""
WRITING: Final = frozenset({"mktree", "read-tree", "update-index", "write-tree"})
"""Commands that must not see borrowed objects, because they have to store everything they write."""
TIMEOUT_S: Final = 300.0
POLL_INTERVAL_S: Final = 0.1
MAX_STDERR_CHARACTERS: Final = 300


class GitCommandError(CheckpointError):
    """A git command failed."""

    code = "checkpoint_git_failed"


def find_git(variables: Mapping[str, str], roots: Sequence[str]) -> GitProgram:
    """Return the first git on PATH. Raises CheckpointError if there is none, or if it is in a workspace."""
    for folder in variables.get("PATH", os.defpath).split(os.pathsep):
        program = os.path.join(folder, "git")
        if not (os.path.isfile(program) and os.access(program, os.X_OK)):
            continue
        real = os.path.realpath(program)
        inside = any(real.startswith(root.rstrip("/") + "/") for root in roots if root != "/")
        if not os.path.isabs(folder) or inside:
            raise CheckpointError(
                f"The first git on PATH is {program!r}, which is in the workspace or in the folder "
                "where the server was started.",
                hint="Checkpoints are disabled; remove that folder from PATH to enable them.",
            )
        return GitProgram(program, variables)
    raise CheckpointError(
        "git is not installed, so the changes of a turn cannot be undone.",
        hint="Install git to enable checkpoints.",
    )


class ShadowGit:
    """The git commands of a shadow repository, run in one workspace folder; all of them block.

    Setting `stop` ends the running command and all later ones.
    """

    def __init__(self, program: GitProgram, place: Path, root: str, work_tree: str) -> None:
        self._program = program
        self.place = place
        self.root = root
        self._work_tree = work_tree
        self.stop = Event()
        self.lock: tuple[int, ...] = ()
        """The descriptor of the shadow's lock.

        A git process that outlives a killed agent holds the lock until it ends.
        """

    def run(
        self,
        *arguments: str,
        given: bytes | None = None,
        index: str = "",
        work_tree: str = "",
        fine: Sequence[int] = (0,),
        borrows: bool = True,
    ) -> bytes:
        """Run a command until it ends and return its output. Raises GitCommandError.

        `index` replaces the shadow's index file, and `work_tree` the workspace folder. Unless `borrows` is set, the
        command does not see borrowed objects.
        """
        if arguments[0] == "write-tree" and self._borrowed:
            arguments = ("write-tree", "--missing-ok", *arguments[1:])
        with TemporaryFile() as source:
            # Input comes from a file, because a full pipe would have to be fed while the output is read.
            source.write(given or b"")
            source.seek(0)
            variables = self._variables(index, work_tree or self._work_tree)
            if borrows and _named(arguments) not in WRITING:
                variables |= self._borrowed
            with self._started(arguments, source, variables, work_tree) as process:
                output, errors = _wait_for_exit(process, self.stop)
        if process.returncode not in fine:
            told = errors.decode("utf-8", "replace").strip()[:MAX_STDERR_CHARACTERS]
            raise GitCommandError(
                f"git {_named(arguments)} failed ({process.returncode}): {told or 'no error message'}."
            )
        return output

    def run_together(self, *commands: Sequence[str]) -> list[bytes]:
        """Run read-only commands concurrently and return their outputs. Raises GitCommandError."""

        def run(command: Sequence[str]) -> bytes:
            return self.run(*command)

        with ThreadPoolExecutor(len(commands)) as threads:
            return list(threads.map(run, commands))

    @contextmanager
    def _started(
        self,
        arguments: Sequence[str],
        source: IO[bytes] | int,
        variables: Mapping[str, str],
        work_tree: str = "",
    ) -> "Generator[subprocess.Popen[bytes]]":
        try:
            process = self._program.start(arguments, work_tree or self.root, variables, source, self.lock)
        except (OSError, ValueError) as error:
            raise GitCommandError(f"git {_named(arguments)} could not be started: {error}.") from error
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream:
                    _close(stream)
            process.wait()

    def _variables(self, index: str, work_tree: str) -> dict[str, str]:
        place = str(self.place)
        return {
            **VARIABLES,
            "GIT_DIR": place,
            "GIT_COMMON_DIR": place,
            "GIT_WORK_TREE": work_tree,
            "GIT_INDEX_FILE": index or f"{place}/index",
            "GIT_OBJECT_DIRECTORY": f"{place}/objects",
        }

    @property
    def _borrowed(self) -> dict[str, str]:
        borrowed = self.place / BORROWED
        return {"GIT_ALTERNATE_OBJECT_DIRECTORIES": str(borrowed)} if borrowed.is_dir() else {}

    def blobs(self, oids: Sequence[str], max_bytes: int = sys.maxsize) -> Generator[bytes | None]:
        """Yield the content of each object, in order; None if it is missing or exceeds `max_bytes`."""
        variables = self._variables("", self._work_tree) | self._borrowed
        with self._started(("cat-file", "--batch"), subprocess.PIPE, variables) as process:
            assert process.stdin, "a process started with pipes has them"
            assert process.stdout, "a process started with pipes has them"
            for oid in oids:
                process.stdin.write(f"{oid}\n".encode())
                process.stdin.flush()
                header = process.stdout.readline().split()
                if len(header) != 3 or header[1] != b"blob":
                    yield None
                    continue
                size_bytes = int(header[2])
                if size_bytes > max_bytes:
                    _drain_stream(process.stdout, size_bytes + 1)
                    yield None
                    continue
                content = process.stdout.read(size_bytes + 1)[:-1]
                yield content if len(content) == size_bytes else None

    def make(self, excludes: Sequence[str]) -> None:
        """Create or update the repository's files. Raises OSError."""
        for name in ("objects/info", "objects/pack", "refs/turns", "info"):
            (self.place / name).mkdir(parents=True, exist_ok=True, mode=0o700)
        files = {
            "config": CONFIG,
            "info/attributes": ATTRIBUTES,
            "info/exclude": "".join(f"{line}\n" for line in excludes),
            # Written last, because git recognises the repository by this file.
            "HEAD": "ref: refs/heads/none\n",
        }
        for name, content in files.items():
            path = self.place / name
            if not path.is_file() or path.read_text(encoding="utf-8", errors="replace") != content:
                write_whole(path, content.encode("utf-8", "surrogateescape"), mode=0o600)


def _named(arguments: Sequence[str]) -> str:
    return next(each for each in arguments if each[0] != "-" and "=" not in each)


def _wait_for_exit(process: "subprocess.Popen[bytes]", stop: Event) -> tuple[bytes, bytes]:
    """Wait for a process to end, checking `stop` regularly, and return its output."""
    waited_s = 0.0
    while not stop.is_set():
        try:
            return process.communicate(timeout=POLL_INTERVAL_S)
        except subprocess.TimeoutExpired:
            waited_s += POLL_INTERVAL_S
            if waited_s > TIMEOUT_S:
                break
    raise CheckpointError("The checkpoint was cancelled.")


def _drain_stream(stream: IO[bytes], size_bytes: int) -> None:
    while size_bytes > 0 and (piece := stream.read(min(size_bytes, 1 << 20))):
        size_bytes -= len(piece)


def _close(stream: Any) -> None:
    try:
        stream.close()
    except OSError:  # a pipe with unflushed data and no reader
        return
