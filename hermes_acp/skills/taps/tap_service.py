"""Add taps, fetch and verify their index, and find skills in it.

Functions block. A tap's newest commit must be signed by the key that was pinned when the user added it, or by a
successor that this key has named. Its index must be newer than the newest one seen. An index lists the digest of each
skill's files, so that only signed content is installed.
"""

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from msgspec import Struct, structs

from hermes_acp.core.errors import BadRequest
from hermes_acp.skills.git_source import SIGNED_PROTOCOLS, GitSource
from hermes_acp.skills.suggestions.combined_fit import ranked_skills
from hermes_acp.skills.suggestions.word_ranking import WordRanking
from hermes_acp.skills.taps.commit_signatures import fingerprint, require_signature, signing_key
from hermes_acp.skills.taps.tap_index import (
    INDEX_FILE,
    MAX_INDEX_BYTES,
    SKILLS_FOLDER,
    PublishedSkill,
    TapIndex,
    read_index,
)
from hermes_acp.skills.taps.tap_keys import (
    KEYS_FILE,
    MAX_KEYS_BYTES,
    KeyChanges,
    KeyRevoked,
    KeySigner,
    read_changes,
)
from hermes_acp.skills.taps.tap_store import FormerKey, Tap, TapStore, tap_name
from hermes_acp.storage.private_files import private_folder, remove_folder

ADDRESSES: Final = ("https://", "http://", "ssh://", "git://", "file://")
MAX_FOUND: Final = 20
ASK_PUBLISHER: Final = "Nothing was changed. Ask the publisher what happened before you use this tap."


class TapCandidate(Struct, frozen=True):
    """A fetched and valid tap whose key the user has not trusted yet."""

    name: str
    tap: Tap


class FoundSkill(Struct, frozen=True):
    """A skill in a tap's index."""

    tap: str
    name: str
    skill: PublishedSkill


class TapService:
    """The taps of a home folder. `search_path` is the PATH in which git and ssh-keygen are looked up."""

    def __init__(self, home: Path, now: Callable[[], float], search_path: str) -> None:
        self.store = TapStore(home)
        self._now = now
        self.search_path = search_path
        self._places = home / "quarantine"

    def candidate(self, url: str, name: str = "") -> TapCandidate:
        """Fetch a new tap and check it against the key that it names. Raises BadRequest."""
        if not is_address(url):
            raise BadRequest(
                f"{url!r} is not the address of a repository.",
                hint=f"Use an address that begins with {', '.join(ADDRESSES)}.",
            )
        name = tap_name(url, name)
        if name in self.store.taps():
            raise BadRequest(
                f"A tap {name} already exists: {self.store.find(name).url}.",
                hint="Choose another name with --name.",
            )
        with self.fetched(url) as (git, commit, place):
            key = signing_key(git, commit)
            index = self._verified(git, commit, key, place)
            changes = key_changes(git, commit).changes
            if KeySigner(place, self.search_path).successors(key, changes):
                raise BadRequest(
                    f"The tap is signed by the key {fingerprint(key)}, which its publisher replaced or revoked.",
                    hint="Do not use it. Ask the publisher for a tap that is signed with the current key.",
                )
        return TapCandidate(name, Tap(url, key, commit, index, self._now()))

    def address(self, tap: str, place: Path) -> str:
        """Return the address of a tap, given its name, its address, or its folder. Raises BadRequest."""
        if known := self.store.taps().get(tap):
            return known.url
        if is_address(tap):
            return tap
        folder = (place / tap).resolve()
        if folder.is_dir():
            return str(folder)
        raise BadRequest(f"You have no tap {tap}.", hint="Pass its address, or add it first.")

    def add(self, candidate: TapCandidate) -> None:
        """Trust a tap's key and keep the tap. Raises StorageError."""
        self.store.put(candidate.name, candidate.tap)

    def remove(self, name: str) -> None:
        """Remove a tap and its key. Skills installed from it stay. Raises BadRequest."""
        self.store.find(name)
        self.store.put(name, None)

    def refresh(self, name: str) -> Tap:
        """Fetch a tap's newest index.

        Raises BadRequest if it is not signed by the pinned key, or is older than the last one.
        """
        with self.fetched(self.store.find(name).url) as (git, commit, place):
            return self.verify(name, git, commit, place)

    def verify(self, name: str, git: GitSource, commit: str, place: Path) -> Tap:
        """Verify a fetched commit of a tap and store it as the newest, with the key that now signs the tap.

        Raises BadRequest or StorageError.
        """
        tap = self.store.find(name)
        followed = self._followed(name, tap, git, commit, place)
        if commit != tap.commit and (key := signing_key(git, commit)) != followed[-1]:
            raise BadRequest(
                f"The tap {name} is now signed by another key, {fingerprint(key)}, which the key before it does not "
                "confirm.",
                hint=f"{ASK_PUBLISHER} If the new key is right, remove the tap and add it again.",
            )
        index = self._verified(git, commit, followed[-1], place)
        if index.serial < tap.index.serial or (index.serial == tap.index.serial and index != tap.index):
            raise BadRequest(
                f"The tap {name} offers index {index.serial}, but index {tap.index.serial} was seen before.",
                hint=f"Someone may be replaying an old state. {ASK_PUBLISHER}",
            )
        for each, skill in index.skills.items():
            known = tap.index.skills.get(each)
            if (
                known
                and (skill.version, skill.digest) != (known.version, known.digest)
                and (skill.version <= known.version)
            ):
                raise BadRequest(
                    f"The tap {name} offers {each} in version {skill.version}, after version {known.version}.",
                    hint=f"Versions can only increase. {ASK_PUBLISHER}",
                )
        replaced = tuple(FormerKey(key, self._now()) for key in followed[:-1])
        former_keys = (*tap.former_keys, *replaced)
        tap = structs.replace(tap, commit=commit, index=index, key=followed[-1], former_keys=former_keys)
        self.store.put(name, tap)
        return tap

    def search(self, words: str) -> list[FoundSkill]:
        """Return the skills that contain any of the words, best first, from the last fetched indexes of all taps."""
        every = [
            FoundSkill(name, each, skill)
            for name, tap in self.store.taps().items()
            for each, skill in tap.index.skills.items()
        ]
        ranking = WordRanking([(each.name, each.skill.description, "") for each in every])
        return [every[fit.number] for fit in ranked_skills(ranking.scores(words), {})[:MAX_FOUND]]

    def find(self, text: str) -> FoundSkill | None:
        """Return the skill that NAME or TAP/NAME refers to, or None. Raises BadRequest if several taps have it."""
        tap_wanted, _, name = text.rpartition("/")
        found = [
            FoundSkill(tap, name, known.index.skills[name])
            for tap, known in self.store.taps().items()
            if name in known.index.skills and tap_wanted in ("", tap)
        ]
        if len(found) > 1:
            listed = ", ".join(f"{each.tap}/{each.name}" for each in found)
            raise BadRequest(f"Several taps have a skill {name}.", hint=f"Name one: {listed}.")
        return found[0] if found else None

    @contextmanager
    def fetched(self, url: str) -> Generator[tuple[GitSource, str, Path]]:
        """Fetch a repository's newest commit into a temporary folder. Raises BadRequest."""
        with self.workshop() as (git, place):
            yield git, git.fetch(url, ""), place

    @contextmanager
    def workshop(self) -> Generator[tuple[GitSource, Path]]:
        """Create an empty repository in a temporary folder. Raises BadRequest or StorageError."""
        place = private_folder(self._places / os.urandom(6).hex())
        try:
            yield GitSource(place / "git", self.search_path, SIGNED_PROTOCOLS), place
        finally:
            remove_folder(place)

    def _followed(self, name: str, tap: Tap, git: GitSource, commit: str, place: Path) -> tuple[str, ...]:
        """Return a tap's pinned key and its successors since, ending with the current one. Raises BadRequest."""
        former = [each.key for each in tap.former_keys]
        try:
            if tap.is_revoked:
                raise KeyRevoked(f"The publisher revoked the key {fingerprint(tap.key)}.")
            changes = key_changes(git, commit).changes
            return KeySigner(place, self.search_path).follow(tap.key, former, changes)
        except KeyRevoked as revoked:
            self.store.put(name, structs.replace(tap, is_revoked=True))
            raise BadRequest(
                f"The tap {name} can no longer be used: {revoked.message}",
                hint=f"Check the skills that you have from it (`hermes-acp skills audit`), and remove the tap with "
                f"`hermes-acp skills taps remove {name}`.",
            ) from revoked
        except BadRequest as refusal:
            raise BadRequest(f"The tap {name} is refused: {refusal.message}", hint=ASK_PUBLISHER) from refusal

    def _verified(self, git: GitSource, commit: str, key: str, place: Path) -> TapIndex:
        require_signature(git, commit, key, place, self.search_path)
        return read_index(git.file(commit, INDEX_FILE, MAX_INDEX_BYTES))


def is_address(text: str) -> bool:
    """Return whether a string is the address of a repository, such as `https://…` or `git@host:path`."""
    return text.startswith(ADDRESSES) or "@" in text.partition(":")[0]


def key_changes(git: GitSource, commit: str) -> KeyChanges:
    """Return the key changes listed in a tap's commit, often none. Raises BadRequest."""
    if not git.has_file(commit, KEYS_FILE):
        return KeyChanges()
    return read_changes(git.file(commit, KEYS_FILE, MAX_KEYS_BYTES))


def skill_path(name: str) -> str:
    """Return a skill's folder in a tap."""
    return f"{SKILLS_FOLDER}/{name}"
