"""Read files of an untrusted git repository without a work tree.

Blocks. Nothing is checked out, so there are no hooks, filters, submodules or links to follow: objects are read as
bytes. Neither the system's nor the user's configuration applies, so no credential helper starts. ssh finds its keys as
usual. Source: git(1), git-fetch(1), gitattributes(5).
"""

import shutil
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, Final, cast

from msgspec import Struct

from hermes_acp.core.errors import BadRequest
from hermes_acp.git.program_settings import INERT_SETTINGS, INERT_VARIABLES
from hermes_acp.storage.private_files import private_folder
from hermes_acp.storage.version_history import is_hidden

TIMEOUT_S: Final = 180
MAX_STDERR_CHARACTERS: Final = 300
PROTOCOLS: Final = "https:ssh:file"
SIGNED_PROTOCOLS: Final = f"{PROTOCOLS}:http:git"
"""Protocols that are allowed if every commit's signature is checked, which prevents tampering on the network."""
VARIABLES: Final[Mapping[str, str]] = MappingProxyType({**INERT_VARIABLES, "GIT_CONFIG_COUNT": "0"})
SETTINGS: Final = (*INERT_SETTINGS, ("fetch.fsckObjects", "true"), ("http.followRedirects", "initial"))
STATIC_HOST: Final = "dumb http transport"
"""Git's error for a web server that only serves files and would therefore send whole histories."""
NO_HEAD: Final = "couldn't find remote ref HEAD"
"""Git's error for a repository whose HEAD names a branch without commits."""
REJECTED: Final = "[rejected]"
HEADS: Final = "refs/heads/"
USUAL_BRANCH: Final = "main"
NO_OBJECT: Final = "0" * 40
NO_SETTINGS: Final[Mapping[str, str]] = MappingProxyType({})


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

    def __init__(self, folder: Path, search_path: str, protocols: str = PROTOCOLS) -> None:
        program = shutil.which("git", path=search_path)
        if program is None:
            raise BadRequest("git is not installed.", hint="Install git, or name a folder.")
        self._program = program
        self._folder = private_folder(folder)
        self._variables = {
            **VARIABLES,
            "GIT_DIR": str(folder),
            "GIT_OBJECT_DIRECTORY": str(folder / "objects"),
            "GIT_ALLOW_PROTOCOL": protocols,
        }
        self._run("init", "--quiet", "--bare", "--template=", ".")

    def fetch(self, url: str, ref: str) -> str:
        """Fetch a branch, tag or commit (by default the branch of `head_of`) and return the commit.

        Raises BadRequest.
        """
        if url.startswith("-") or ref.startswith("-"):
            raise BadRequest(f"{url!r} is not the address of a repository.")
        try:
            self._fetch_ref(url, ref or "HEAD")
        except BadRequest as error:
            if ref or NO_HEAD not in error.message:
                raise
            branch = self.head_of(url)
            if not branch:
                raise BadRequest(f"The repository {url} has no commits yet.") from error
            self._fetch_ref(url, branch)
        return self._run("rev-parse", "--verify", "FETCH_HEAD^{commit}").decode().strip()

    def _fetch_ref(self, url: str, ref: str) -> None:
        try:
            self._run("fetch", "--quiet", "--no-tags", "--depth=1", "--", url, ref)
        except BadRequest as error:
            if STATIC_HOST not in error.message:
                raise
            self._run("fetch", "--quiet", "--no-tags", "--", url, ref)

    def head_of(self, url: str) -> str:
        """Return the branch that a repository's HEAD names, or an empty string if the repository has no commits.

        If HEAD does not name a branch with commits, it is `main` or the only branch. Raises BadRequest if there are
        several.
        """
        listed = self._run("ls-remote", "--symref", "--", url, "HEAD", f"{HEADS}*").decode("utf-8", "replace")
        lines = [line.split("\t") for line in listed.splitlines()]
        named = [
            oid.removeprefix("ref: ") for oid, name in lines if name == "HEAD" and oid.startswith("ref: ")
        ]
        branches = [name for _, name in lines if name.startswith(HEADS)]
        if named or not branches:
            return named[0] if named else ""
        usual = f"{HEADS}{USUAL_BRANCH}"
        if len(branches) > 1 and usual not in branches:
            raise BadRequest(
                f"The repository {url} has several branches, and its HEAD names none of them.",
                hint="Set its HEAD with `git symbolic-ref HEAD refs/heads/BRANCH` in the repository.",
            )
        return usual if usual in branches else branches[0]

    def first_branch(self, url: str) -> str:
        """Return the branch that the HEAD of a repository without commits names; `main` if the server does not say.

        `git ls-remote` does not show it, but a clone adopts it.
        """
        copy = self._folder / "empty"
        settings = {"init.defaultBranch": USUAL_BRANCH}
        words = ("--quiet", "--bare", "--template=", "--depth=1", "--", url, str(copy))
        self._run("clone", *words, settings=settings)
        return self._run(f"--git-dir={copy}", "symbolic-ref", "HEAD").decode().strip()

    def write_tree(self, base: str, replaced: str, files: Mapping[str, Blob]) -> str:
        """Write the tree of a commit, or an empty one, without the folder `replaced` and with the given files."""
        self._run("read-tree", *(("--empty",) if not base else (base,)))
        kept = self._run("ls-files", "-z", "--", replaced).decode("utf-8", "surrogateescape")
        lines = [f"0 {NO_OBJECT}\t{path}" for path in kept.split("\0") if path]
        for path, blob in files.items():
            file = self._folder / "added"
            file.write_bytes(blob.content)
            oid = self._run("hash-object", "-w", "--no-filters", "--", str(file)).decode().strip()
            lines.append(f"{'100755' if blob.is_executable else '100644'} {oid}\t{path}")
        listed = self._folder / "entries"
        listed.write_bytes("\0".join((*lines, "")).encode("utf-8", "surrogateescape"))
        with listed.open("rb") as source:
            self._run("update-index", "-z", "--index-info", source=source)
        return self._run("write-tree").decode().strip()

    def commit_tree(self, tree: str, parent: str, message: str, settings: Mapping[str, str]) -> str:
        """Write a signed commit. The settings specify its author and the key."""
        parents = ("-p", parent) if parent else ()
        return (
            self._run("commit-tree", "-S", *parents, "-m", message, tree, settings=settings).decode().strip()
        )

    def push(self, url: str, commit: str, branch: str) -> None:
        """Push a commit to a remote branch, unless the branch has moved. Raises BadRequest."""
        try:
            self._run("push", "--quiet", "--", url, f"{commit}:{branch}")
        except BadRequest as error:
            if REJECTED not in error.message:
                raise
            raise BadRequest(
                f"The branch {branch.removeprefix(HEADS)} of {url} changed at the same time. Nothing was pushed.",
                hint="Try again.",
            ) from error

    def commit_text(self, commit: str) -> str:
        """Return a commit with its headers."""
        return self._run("cat-file", "commit", commit).decode("utf-8", "replace")

    def is_signed(self, commit: str, allowed_signers: Path, ssh_keygen: str) -> bool:
        """Return whether a commit has a valid SSH signature by one of the allowed signers."""
        settings = {
            "gpg.format": "ssh",
            "gpg.ssh.program": ssh_keygen,
            "gpg.ssh.allowedSignersFile": str(allowed_signers),
        }
        try:
            self._run("verify-commit", commit, settings=settings)
        except BadRequest:
            return False
        return True

    def has_file(self, commit: str, path: str) -> bool:
        """Return whether a commit contains the path."""
        return bool(self._run("ls-tree", "--name-only", "--full-tree", commit, path).strip())

    def file(self, commit: str, path: str, most_bytes: int) -> bytes:
        """Return one regular file of a commit. Raises BadRequest."""
        found = [entry for entry in self._entries(commit, "", path) if entry.path == path]
        if not found:
            raise BadRequest(f"The repository has no file {path}.")
        if found[0].size_bytes > most_bytes:
            raise BadRequest(f"{path} has {found[0].size_bytes:,} bytes; at most {most_bytes:,} are allowed.")
        return dict(self._blobs(found))[path].content

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
            repository.git.update_environment(**self._variables)
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

    def _entries(self, commit: str, path: str, *only: str) -> list[_Entry]:
        tree = f"{commit}:{path}" if path else commit
        listed = self._run("ls-tree", "-r", "-z", "-l", "--full-tree", tree, *only).decode(
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

    def _run(
        self, *arguments: str, settings: Mapping[str, str] = NO_SETTINGS, source: BinaryIO | None = None
    ) -> bytes:
        from git.cmd import Git
        from git.exc import GitCommandError

        given = [word for name, value in (*SETTINGS, *settings.items()) for word in ("-c", f"{name}={value}")]
        try:
            output = Git(str(self._folder)).execute(
                [self._program, "--no-pager", *given, *arguments],
                env=self._variables,
                istream=source,
                stdout_as_string=False,
                strip_newline_in_stdout=False,
                kill_after_timeout=TIMEOUT_S,
            )
        except GitCommandError as error:
            told = str(cast(Any, error).stderr).strip().removeprefix("stderr:").strip(" '\n")
            kept = "\n".join(line for line in told.splitlines() if not line.startswith("hint:"))
            shown = textwrap.shorten(kept, MAX_STDERR_CHARACTERS, placeholder=" …")
            raise BadRequest(
                f"git {arguments[0]} failed: {shown or 'no error message'}",
                hint="Check the address, the branch or tag, and your access to the repository.",
            ) from error
        return output
