"""Publish a skill to a tap or change the tap's key, in one signed commit with the changed files and the new index.

Functions block. The commit is built from git objects in a temporary repository, so nothing is checked out and no hook
runs. The tap must be empty or already signed with the same key. Source: git-commit-tree(1), git-update-index(1).
"""

import shutil
from pathlib import Path

from msgspec import Struct, structs

from hermes_acp.core.errors import BadRequest
from hermes_acp.skills.git_source import Blob, GitSource
from hermes_acp.skills.skill_collection import FILE
from hermes_acp.skills.skill_document import read_document
from hermes_acp.skills.skill_source import version_files
from hermes_acp.skills.skill_validation import SkillCheck, check_skill, text_of
from hermes_acp.skills.taps.commit_signatures import fingerprint, require_signature, signing_key
from hermes_acp.skills.taps.skill_capabilities import capabilities_of
from hermes_acp.skills.taps.tap_index import (
    INDEX_FILE,
    MAX_INDEX_BYTES,
    PublishedSkill,
    TapIndex,
    index_bytes,
    read_index,
)
from hermes_acp.skills.taps.tap_keys import KEYS_FILE, KeyChanges, KeySigner, changes_bytes
from hermes_acp.skills.taps.tap_service import key_changes, skill_path
from hermes_acp.storage.version_history import read_tree, tree_digest


class Publication(Struct, frozen=True):
    """A skill that is ready to be published; `check` has the scanner's findings."""

    name: str
    description: str
    files: dict[str, Blob]
    check: SkillCheck
    capabilities: tuple[str, ...]


class Published(Struct, frozen=True):
    """The result of publishing: the skill's version, the index's serial, and the commit."""

    version: int
    serial: int
    commit: str


def publication(folder: Path) -> Publication:
    """Read and check a skill's folder for publication. Raises BadRequest if it is not a skill."""
    tree = read_tree(folder)
    files = {each.path: Blob((folder / each.path).read_bytes(), each.is_executable) for each in tree}
    if FILE not in files:
        raise BadRequest(f"{folder} is not a skill: it has no {FILE}.")
    document, mistakes = read_document(text_of(files[FILE].content) or "", folder.name)
    if document is None:
        raise BadRequest(f"{folder} is not a valid skill: {' '.join(each.text for each in mistakes)}")
    contents = {path: blob.content for path, blob in files.items()}
    check = check_skill(document.name, contents, is_foreign=True)
    capabilities = capabilities_of(document.name, files)
    return Publication(document.name, document.description, files, check, capabilities)


class TapPublisher:
    """Publishes skills, signed with the private key in `key_file`. The public key is in a file next to it."""

    def __init__(self, git: GitSource, place: Path, key_file: Path, search_path: str) -> None:
        program = shutil.which("ssh-keygen", path=search_path)
        if program is None:
            raise BadRequest("ssh-keygen, which signs the index, is not installed.", hint="Install OpenSSH.")
        self._git = git
        self._place = place
        self._key_file = key_file
        self._search_path = search_path
        self._program = program

    def publish(self, url: str, skill: Publication) -> Published:
        """Publish a skill.

        Raises BadRequest if it has faults, nothing changed, or the tap is signed with another key.
        """
        if skill.check.faults:
            raise BadRequest(f"{skill.name} is not published: {' '.join(skill.check.faults)}")
        head = self._git.head_of(url)
        parent, index, _ = self._newest(url, head) if head else ("", TapIndex(0), KeyChanges())
        known = index.skills.get(skill.name)
        digest = tree_digest(version_files(skill.files))
        if known and known.digest == digest:
            raise BadRequest(f"{skill.name} is already published, as version {known.version}.")
        entry = PublishedSkill(
            skill.description, (known.version if known else 0) + 1, digest, skill.capabilities
        )
        index = structs.replace(index, serial=index.serial + 1, skills={**index.skills, skill.name: entry})
        files = {f"{skill_path(skill.name)}/{path}": blob for path, blob in skill.files.items()}
        files[INDEX_FILE] = Blob(index_bytes(index))
        tree = self._git.write_tree(parent, skill_path(skill.name), files)
        message = f"Publish {skill.name} {entry.version}"
        commit = self._git.commit_tree(tree, parent, message, self._settings(self._key_file))
        self._git.push(url, commit, head or self._git.first_branch(url))
        return Published(entry.version, index.serial, commit)

    def rotate(self, url: str, new_key_file: Path) -> Published:
        """Hand a tap over to another key; the old key signs the change, and the new one the commit.

        Raises BadRequest.
        """
        return self._change_key(url, public_key(new_key_file), new_key_file)

    def revoke(self, url: str) -> Published:
        """Revoke a tap's key, which makes the tap permanently unusable. Raises BadRequest."""
        return self._change_key(url, "", self._key_file)

    def _change_key(self, url: str, new: str, signing_file: Path) -> Published:
        head = self._git.head_of(url)
        if not head:
            raise BadRequest("The tap has no commit yet, so its key cannot change.")
        parent, index, known = self._newest(url, head)
        old = public_key(self._key_file)
        if new in (old, *(change.old for change in known.changes)):
            raise BadRequest(
                "The new key has signed this tap before.", hint="Create a new one with ssh-keygen."
            )
        change = KeySigner(self._place, self._search_path).change(old, new, self._key_file)
        index = structs.replace(index, serial=index.serial + 1)
        files = {
            KEYS_FILE: Blob(changes_bytes(KeyChanges((*known.changes, change)))),
            INDEX_FILE: Blob(index_bytes(index)),
        }
        tree = self._git.write_tree(parent, KEYS_FILE, files)
        message = "Change the key" if new else "Revoke the key"
        commit = self._git.commit_tree(tree, parent, message, self._settings(signing_file))
        self._git.push(url, commit, head)
        return Published(0, index.serial, commit)

    def _newest(self, url: str, branch: str) -> tuple[str, TapIndex, KeyChanges]:
        """Fetch a tap's newest commit, its index and its key changes.

        Raises BadRequest unless our key signs the tap.
        """
        commit = self._git.fetch(url, branch)
        key = public_key(self._key_file)
        if (signed := signing_key(self._git, commit)) != key:
            raise BadRequest(
                f"This tap is signed with {fingerprint(signed)}, but you used {fingerprint(key)}.",
                hint="Name the right key with --key.",
            )
        require_signature(self._git, commit, key, self._place, self._search_path)
        known = key_changes(self._git, commit)
        if any(change.old == key for change in known.changes):
            raise BadRequest(
                "This key was replaced or revoked in the tap.", hint="Use the current key: --key FILE."
            )
        return commit, read_index(self._git.file(commit, INDEX_FILE, MAX_INDEX_BYTES)), known

    def _settings(self, key_file: Path) -> dict[str, str]:
        """Return the git settings for a commit signed with a key."""
        return {
            "gpg.format": "ssh",
            "gpg.ssh.program": self._program,
            "user.signingkey": str(key_file),
            "user.name": "hermes-acp skills",
            "user.email": "skills@localhost",
        }


def public_key(key_file: Path) -> str:
    """Return the public half of a key, from the file next to it. Raises BadRequest."""
    file = key_file.with_name(f"{key_file.name}.pub")
    try:
        return " ".join(file.read_text(encoding="utf-8").split()[:2])
    except OSError as error:
        raise BadRequest(
            f"{file} cannot be read: {error.strerror}.",
            hint="Name a key whose public half is in a file next to it.",
        ) from error
