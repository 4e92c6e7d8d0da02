"""Install skills from elsewhere: fetch them into quarantine, check them, and install exactly what was checked.

Functions block. An installed skill is pinned twice, by its source commit and by the digest of all its files, so that
the skill in use is the one that was checked, whatever happens to the source.
"""

import os
from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from hermes_acp.core.errors import BadRequest, StorageError
from hermes_acp.skills.git_source import Blob, GitSource
from hermes_acp.skills.skill_collection import FILE
from hermes_acp.skills.skill_document import NAME, read_document
from hermes_acp.skills.skill_source import FetchedFiles, Source, version_files
from hermes_acp.skills.skill_usage import SkillUsageTracker
from hermes_acp.skills.skill_validation import (
    MAX_FILES,
    MAX_FOLDER_BYTES,
    SkillCheck,
    check_skill,
    text_of,
)
from hermes_acp.skills.taps.skill_capabilities import capabilities_of
from hermes_acp.storage.file_locks import file_lock
from hermes_acp.storage.private_files import private_folder, remove_folder, storage_error, write_whole
from hermes_acp.storage.version_history import ChangeCause, VersionFile, check_path, read_tree, tree_digest

LISTED: Final = 20
NOT_APPROVED: Final = (
    "Its files are not the approved ones: `hermes-acp skills history {name}` shows who changed them, "
    "`hermes-acp skills update {name}` fetches the source's files again."
)


class LockEntry(Struct, frozen=True):
    """An installed skill: its source and commit, the digest of its files, and the installation time (epoch seconds).

    `tap` is the tap that it comes from, if any, and `version` its version there.
    """

    source: Source
    commit: str
    digest: str
    installed_at: float
    tap: str = ""
    version: int = 0


class LockFile(Struct, frozen=True):
    """The installed skills, by name."""

    version: int = 1
    skills: dict[str, LockEntry] = {}


class SkillCandidate(Struct, frozen=True):
    """A skill in quarantine at `place`: the fetched files, the findings, and the differences to the installed version.

    `before` contains the files of the installed version, and `gained` the capabilities that that version lacks.
    """

    name: str
    description: str
    source: Source
    fetched: FetchedFiles
    digest: str
    check: SkillCheck
    place: str
    changes: tuple[str, ...]
    capabilities: tuple[str, ...] = ()
    gained: tuple[str, ...] = ()
    before: Mapping[str, Blob] = {}

    @property
    def is_installed(self) -> bool:
        """Whether another version is installed."""
        return bool(self.before)

    @property
    def commit(self) -> str:
        """The source's commit."""
        return self.fetched.commit

    @property
    def files(self) -> dict[str, Blob]:
        """The skill's files."""
        return self.fetched.files

    @property
    def is_new(self) -> bool:
        """Whether the skill differs from the installed version."""
        return bool(self.changes)


class SkillAudit(Struct, frozen=True):
    """The state of an installed skill.

    `troubles` explain why it differs from the approved one or would now be refused.
    """

    name: str
    locked: LockEntry
    troubles: tuple[str, ...]
    warnings: tuple[str, ...] = ()


class SkillHub:
    """The skills that a user installed. `search_path` is the PATH in which git is looked up."""

    def __init__(
        self, home: Path, usage_tracker: SkillUsageTracker, now: Callable[[], float], search_path: str
    ) -> None:
        self._home = home
        self._usage_tracker = usage_tracker
        self._now = now
        self._search_path = search_path
        self._file = home / "skills.lock"
        self._quarantine = home / "quarantine"

    def installed(self) -> Mapping[str, LockEntry]:
        """Return the installed skills, by name. Raises StorageError."""
        try:
            skills = msgspec.json.decode(self._file.read_bytes(), type=LockFile).skills
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise storage_error("read", self._file, error) from error
        except msgspec.MsgspecError as error:
            raise StorageError(
                f"{self._file} cannot be read: {error}.", hint="Repair it, or move it away."
            ) from error
        if odd := next((name for name in skills if not NAME.fullmatch(name)), None):
            raise StorageError(
                f"{self._file} names {odd[:80]!r}, which is not a valid skill name.",
                hint="Repair it, or move it away.",
            )
        return skills

    @contextmanager
    def fetched(
        self, source: Source, fetch: "Callable[[Source, Path], FetchedFiles] | None" = None
    ) -> Generator[SkillCandidate]:
        """Fetch a skill into quarantine and check it.

        It stays there until the block ends. `fetch` is used to fetch the files if the source is neither a repository
        nor a folder. Raises BadRequest or StorageError.
        """
        place = private_folder(self._quarantine / os.urandom(6).hex())
        try:
            found = (fetch or self._files_of)(source, place)
            source = msgspec.structs.replace(source, path=found.path)
            name = _name_of(found.files, source)
            self._hold(place / "files", found.files)
            yield self._candidate(name, source, found, str(place / "files"))
        finally:
            remove_folder(place)

    def install(self, candidate: SkillCandidate) -> None:
        """Install exactly the fetched files and store the previous version. Raises BadRequest or StorageError."""
        if candidate.check.faults:
            raise BadRequest(f"{candidate.name} is not installed: {' '.join(candidate.check.faults)}")
        at = self._now()
        cause = ChangeCause(
            "user", at, f"installed from {candidate.source.text} {candidate.commit[:12]}".strip()
        )
        files = {path: (blob.content, blob.is_executable) for path, blob in candidate.files.items()}
        with self._alone():
            self._require_room(candidate.name, candidate.source)
            self._require_newer(candidate)
            self._usage_tracker.history(self._folder(candidate.name)).replace_content(files, cause)
            found = candidate.fetched
            locked = LockEntry(candidate.source, found.commit, candidate.digest, at, found.tap, found.version)
            self._write(candidate.name, locked)

    def remove(self, name: str) -> None:
        """Archive an installed skill and forget its source. Raises BadRequest or StorageError."""
        with self._alone():
            self.find(name)
            if self._folder(name).is_dir():
                self._usage_tracker.history(self._folder(name)).restore(
                    0, ChangeCause("user", self._now(), "removed")
                )
            self._write(name, None)

    def find(self, name: str) -> LockEntry:
        """Return an installed skill. Raises BadRequest."""
        installed = self.installed()
        if name not in installed:
            known = ", ".join(installed) or "none"
            raise BadRequest(f"No skill {name!r} was installed.", hint=f"Installed skills: {known}.")
        return installed[name]

    def audit(self, name: str) -> SkillAudit:
        """Compare an installed skill with the approved version and check it again. Raises BadRequest."""
        locked = self.find(name)
        folder = self._folder(name)
        try:
            tree = read_tree(folder)
        except BadRequest as trouble:
            return SkillAudit(name, locked, (str(trouble),))
        if not tree:
            return SkillAudit(name, locked, (f"{folder} no longer exists.",))
        check = check_skill(
            name, {each.path: (folder / each.path).read_bytes() for each in tree}, is_foreign=True
        )
        changed = () if tree_digest(tree) == locked.digest else (NOT_APPROVED.format(name=name),)
        hidden = sorted(each.name for each in folder.rglob(".*"))[:LISTED]
        unseen = (
            (f"It contains hidden files that were never checked: {', '.join(hidden)}.",) if hidden else ()
        )
        return SkillAudit(name, locked, (*changed, *check.faults), (*check.warnings, *unseen))

    def _files_of(self, source: Source, place: Path) -> FetchedFiles:
        if source.is_folder:
            folder = Path(source.place)
            tree = read_tree(folder)
            files = {each.path: Blob((folder / each.path).read_bytes(), each.is_executable) for each in tree}
            return FetchedFiles("", "", files)
        git = GitSource(place / "git", self._search_path)
        commit = git.fetch(source.place, source.ref)
        path = _folder_in(git.folders_with(commit, FILE), source)
        files = git.files(commit, path, max_files=MAX_FILES, most_bytes=MAX_FOLDER_BYTES)
        return FetchedFiles(commit, path, files)

    def _hold(self, place: Path, files: Mapping[str, Blob]) -> None:
        """Write the files to quarantine without executable permissions."""
        try:
            for path, blob in files.items():
                check_path(path)
                private_folder((place / path).parent)
                write_whole(place / path, blob.content, mode=0o400)
        except OSError as error:
            raise storage_error("write to the quarantine", place, error) from error

    def _candidate(self, name: str, source: Source, found: FetchedFiles, place: str) -> SkillCandidate:
        files = found.files
        contents = {path: blob.content for path, blob in files.items()}
        check = check_skill(name, contents, is_foreign=True)
        document, _ = read_document(text_of(contents.get(FILE, b"")) or "", name)
        kept = version_files(files)
        before = read_tree(self._folder(name)) if name in self.installed() else ()
        known = {
            each.path: Blob((self._folder(name) / each.path).read_bytes(), each.is_executable)
            for each in before
        }
        capabilities = capabilities_of(name, files)
        able = frozenset(capabilities_of(name, known))
        return SkillCandidate(
            name=name,
            description=document.description if document else "",
            source=source,
            fetched=found,
            digest=tree_digest(kept),
            check=check,
            place=place,
            changes=_changes(before, kept),
            capabilities=capabilities,
            gained=tuple(each for each in capabilities if each not in able) if before else (),
            before=known,
        )

    def _require_room(self, name: str, source: Source) -> None:
        known = self.installed().get(name)
        if known is None and self._folder(name).exists():
            raise BadRequest(
                f"You already have a skill {name}.",
                hint="Rename or remove it first; nothing was changed.",
            )
        if known and (known.source.place, known.source.path) != (source.place, source.path):
            raise BadRequest(
                f"A skill {name} from {known.source.text} is already installed.",
                hint=f"`hermes-acp skills remove {name}` removes it.",
            )

    def _require_newer(self, candidate: SkillCandidate) -> None:
        """Raise BadRequest if a tap offers an older version than the installed one."""
        known = self.installed().get(candidate.name)
        if known and known.tap == candidate.fetched.tap and candidate.fetched.version < known.version:
            raise BadRequest(
                f"{candidate.name} is installed in version {known.version}; the tap {known.tap} offers version "
                f"{candidate.fetched.version}.",
                hint="Nothing was changed. Ask the publisher, or remove the skill first.",
            )

    def _alone(self) -> AbstractContextManager[None]:
        """Lock the installed skills against changes by other processes."""
        return file_lock(self._home / "history" / "hub.lock")

    def _write(self, name: str, locked: LockEntry | None) -> None:
        skills = {each: known for each, known in self.installed().items() if each != name}
        if locked:
            skills[name] = locked
        encoded = msgspec.json.format(msgspec.json.encode(LockFile(skills=skills), order="sorted"), indent=2)
        try:
            write_whole(self._file, encoded + b"\n", mode=0o600)
        except OSError as error:
            raise storage_error("write", self._file, error) from error

    def _folder(self, name: str) -> Path:
        return self._home / "skills" / name


def _folder_in(folders: tuple[str, ...], source: Source) -> str:
    """Return the folder that the source names, or the only skill folder in its repository."""
    fitting = tuple(folder for folder in folders if source.path in ("", folder))
    if len(fitting) == 1:
        return fitting[0]
    if not folders:
        raise BadRequest(f"{source.text} contains no skill: it has no {FILE}.")
    listed = ", ".join(folder or "." for folder in folders[:LISTED])
    if source.path:
        raise BadRequest(
            f"{source.text} is not a skill: the repository has no {source.path}/{FILE}.",
            hint=f"Name one that it contains: {source.place}#PATH with {listed}.",
        )
    raise BadRequest(
        f"{source.text} contains {len(folders)} skills: {listed}.", hint=f"Name one: {source.place}#PATH."
    )


def _name_of(files: Mapping[str, Blob], source: Source) -> str:
    """Return a skill's name: the one in its file, or else its folder's."""
    if FILE not in files:
        raise BadRequest(f"{source.text} is not a skill: it has no {FILE}.")
    folder = Path(source.path or source.place).name.removesuffix(".git")
    document, mistakes = read_document(text_of(files[FILE].content) or "", folder)
    if document is None:
        raise BadRequest(f"{source.text} is not a valid skill: {' '.join(each.text for each in mistakes)}")
    return document.name


def _changes(before: tuple[VersionFile, ...], after: tuple[VersionFile, ...]) -> tuple[str, ...]:
    """List the files that differ and how they differ."""
    old, new = ({each.path: each for each in files} for files in (before, after))
    lines = [f"+ {path}" for path in new if path not in old]
    lines += [f"- {path}" for path in old if path not in new]
    lines += [f"~ {path}" for path in new if path in old and old[path] != new[path]]
    return tuple(sorted(lines, key=lambda line: line[2:]))
