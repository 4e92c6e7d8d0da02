"""Read files of an untrusted git repository without a work tree.

Blocks. Nothing is checked out, so there are no hooks, filters, submodules or links to follow: objects are read as
bytes. Neither the system's nor the user's configuration applies, so no credential helper starts; ssh finds its keys
as usual. Source: git(1), git-fetch(1), gitattributes(5).
"""

import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, cast

from msgspec import Struct

from hermes_acp.core.errors import BadRequest
from hermes_acp.git.program_settings import INERT_SETTINGS, INERT_VARIABLES
from hermes_acp.storage.private_files import private_folder
from hermes_acp.storage.version_history import is_hidden

TIMEOUT_S: Final = 180
MAX_STDERR_CHARACTERS: Final = 300
WAYS: Final = "https:ssh:file"
VARIABLES: Final[Mapping[str, str]] = MappingProxyType(
    {**INERT_VARIABLES, "GIT_ALLOW_PROTOCOL": WAYS, "GIT_CONFIG_COUNT": "0"}
)
SETTINGS: Final = (*INERT_SETTINGS, ("fetch.fsckObjects", "true"), ("http.followRedirects", "initial"))


class Blob(Struct, frozen=True):
    """A file: its bytes, and whether it is executable."""

    content: bytes
    is_executable: bool = False


class _Entry(Struct, frozen=True):
    mode: str
    oid: str
    size_bytes: int
    path: str


class GitSource:
    """A commit of a remote repository, fetched into a separate folder."""

    def __init__(self, folder: Path, search_path: str) -> None:
        program = shutil.which("git", path=search_path)
        if program is None:
            raise BadRequest("git is not installed.", hint="Install git, or name a folder.")
        self._program = program
        self._folder = private_folder(folder)
        self._place = {"GIT_DIR": str(folder), "GIT_OBJECT_DIRECTORY": str(folder / "objects")}
        self._run("init", "--quiet", "--bare", "--template=", ".")

    def fetch(self, url: str, ref: str) -> str:
        """Fetch a branch, tag or commit (default: HEAD); return the commit. Raises BadRequest."""
        if url.startswith("-") or ref.startswith("-"):
            raise BadRequest(f"{url!r} is not the address of a repository.")
        self._run("fetch", "--quiet", "--no-tags", "--depth=1", "--", url, ref or "HEAD")
        return self._run("rev-parse", "--verify", "FETCH_HEAD^{commit}").decode().strip()

    def files(self, commit: str, path: str, *, max_files: int, most_bytes: int) -> dict[str, Blob]:
        """Return all files below a commit's folder except hidden ones, by relative path. Raises BadRequest."""
        entries = self._entries(commit, path)
        size_bytes = sum(entry.size_bytes for entry in entries)
        if len(entries) > max_files or size_bytes > most_bytes:
            raise BadRequest(
                f"{path or 'The repository'} holds {len(entries)} files of {size_bytes:,} bytes; at most {max_files} "
                f"of {most_bytes:,} are taken.",
                hint="Name the folder of the skill: URL#path/of/the/skill.",
            )
        return dict(self._blobs(entries))

    def _blobs(self, entries: Iterable[_Entry]) -> Iterator[tuple[str, Blob]]:
        """Yield the content of each file, using a single git process."""
        from git.repo import Repo

        with Repo(str(self._folder), expand_vars=False) as repository:
            repository.git.update_environment(**VARIABLES, **self._place)
            objects: Any = repository.odb
            for entry in entries:
                content: bytes = objects.stream(bytes.fromhex(entry.oid)).read()
                yield entry.path, Blob(content, entry.mode == "100755")

    def folders_with(self, commit: str, name: str) -> tuple[str, ...]:
        """List the folders of a commit that contain a file of that name."""
        listed = self._run("ls-tree", "-r", "-z", "--name-only", "--full-tree", commit).decode(
            "utf-8", "replace"
        )
        paths = (path.rpartition("/") for path in listed.split("\0"))
        return tuple(folder for folder, _, last in paths if last == name)

    def _entries(self, commit: str, path: str) -> list[_Entry]:
        tree = f"{commit}:{path}" if path else commit
        listed = self._run("ls-tree", "-r", "-z", "-l", "--full-tree", tree).decode(
            "utf-8", "surrogateescape"
        )
        found: list[_Entry] = []
        for line in filter(None, listed.split("\0")):
            about, _, name = line.partition("\t")
            if is_hidden(name):
                continue
            mode, kind, oid, size = about.split()
            if kind != "blob" or mode not in ("100644", "100755", "100664"):
                what = "a link" if mode == "120000" else "another repository"
                raise BadRequest(f"{name!r} there is {what}, which a skill may not contain.")
            found.append(_Entry(mode, oid, int(size), name))
        return found

    def _run(self, *arguments: str) -> bytes:
        from git.cmd import Git
        from git.exc import GitCommandError

        settings = [word for name, value in SETTINGS for word in ("-c", f"{name}={value}")]
        try:
            output = Git(str(self._folder)).execute(
                [self._program, "--no-pager", *settings, *arguments],
                env={**VARIABLES, **self._place},
                stdout_as_string=False,
                strip_newline_in_stdout=False,
                kill_after_timeout=TIMEOUT_S,
            )
        except GitCommandError as error:
            told = str(cast(Any, error).stderr).strip().removeprefix("stderr:").strip(" '\n")
            raise BadRequest(
                f"git {arguments[0]} failed: {told[:MAX_STDERR_CHARACTERS] or 'no error message'}",
                hint="Check the address, the branch or tag, and your access to the repository.",
            ) from error
        return output
