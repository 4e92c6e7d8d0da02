"""Changes of a tap's key. Each is a statement signed by the old key, in `keys.json` in the root of the repository.

A user who pinned an old key follows the statements to the current one. A statement without a new key revokes the old
one permanently. Blocks. Source: ssh-keygen(1) -Y, PROTOCOL.sshsig of OpenSSH.
"""

import shutil
import subprocess
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from hermes_acp.core.errors import BadRequest
from hermes_acp.skills.taps.commit_signatures import PRINCIPAL, fingerprint

KEYS_FILE: Final = "keys.json"
FORMAT: Final = 1
MAX_KEYS_BYTES: Final = 256 << 10
MAX_CHANGES: Final = 200
NAMESPACE: Final = "hermes-acp-tap-key"
SIGNING_TIMEOUT_S: Final = 120


class KeyChange(Struct, frozen=True):
    """A statement by `old` that `new` signs the tap from now on or, if `new` is empty, that `old` is revoked."""

    old: str
    new: str
    signature: str


class KeyChanges(Struct, frozen=True):
    """All changes of a tap's key, in any order."""

    changes: tuple[KeyChange, ...] = ()
    format: int = FORMAT


class KeyRevoked(BadRequest):
    """The publisher revoked the key, so the tap can no longer be used."""


def read_changes(content: bytes) -> KeyChanges:
    """Parse changes without checking their signatures. Raises BadRequest."""
    try:
        changes = msgspec.json.decode(content, type=KeyChanges)
    except msgspec.MsgspecError as error:
        raise BadRequest(f"{KEYS_FILE} cannot be read: {error}.") from error
    if changes.format != FORMAT:
        raise BadRequest(
            f"{KEYS_FILE} has the format {changes.format}, which is newer than this program.",
            hint="Update hermes-acp.",
        )
    if len(changes.changes) > MAX_CHANGES:
        raise BadRequest(
            f"{KEYS_FILE} lists {len(changes.changes)} changes; at most {MAX_CHANGES} are allowed."
        )
    return changes


def changes_bytes(changes: KeyChanges) -> bytes:
    """Serialise changes for storage."""
    return msgspec.json.format(msgspec.json.encode(changes, order="sorted"), indent=2) + b"\n"


class KeySigner:
    """Signs and verifies statements about keys; `place` is used for temporary files."""

    def __init__(self, place: Path, search_path: str) -> None:
        program = shutil.which("ssh-keygen", path=search_path)
        if program is None:
            raise BadRequest(
                "ssh-keygen, which signs and checks keys, is not installed.", hint="Install OpenSSH."
            )
        self._program = program
        self._place = place

    def change(self, old: str, new: str, key_file: Path) -> KeyChange:
        """Return a statement signed by the old key, whose private half is in `key_file`. Raises BadRequest."""
        file = self._place / "statement"
        file.write_bytes(_statement(old, new))
        done = self._run("sign", "-f", str(key_file), "-n", NAMESPACE, str(file))
        signature = file.with_name(f"{file.name}.sig")
        if done.returncode or not signature.exists():
            reason = done.stderr.decode("utf-8", "replace").strip()[:300] or "no error message"
            raise BadRequest(f"ssh-keygen could not sign with {key_file}: {reason}.")
        change = KeyChange(old, new, signature.read_text(encoding="ascii"))
        signature.unlink()
        return change

    def is_signed(self, change: KeyChange) -> bool:
        """Return whether the old key signed a statement."""
        if "\n" in change.old + change.new:
            return False
        allowed, signature = self._place / "key_signers", self._place / "key_signature"
        allowed.write_text(f'{PRINCIPAL} namespaces="{NAMESPACE}" {change.old}\n', encoding="utf-8")
        signature.write_text(change.signature, encoding="utf-8")
        words = ("-f", str(allowed), "-I", PRINCIPAL, "-n", NAMESPACE, "-s", str(signature))
        return self._run("verify", *words, stated=_statement(change.old, change.new)).returncode == 0

    def successors(self, key: str, changes: Sequence[KeyChange]) -> frozenset[str]:
        """Return the validly signed successors that a key named; an empty one means that the key is revoked."""
        named = (change for change in changes if change.old == key)
        return frozenset(change.new for change in named if self.is_signed(change))

    def follow(self, key: str, former: Collection[str], changes: Sequence[KeyChange]) -> tuple[str, ...]:
        """Return a key and its successors, ending with the current one; none may be among the `former` keys.

        Raises BadRequest if a key names several successors or an earlier key, KeyRevoked if one is revoked.
        """
        followed = [key]
        while successors := self.successors(followed[-1], changes):
            shown = fingerprint(followed[-1])
            if "" in successors:
                raise KeyRevoked(f"The publisher revoked the key {shown}.")
            if len(successors) > 1:
                raise BadRequest(f"The key {shown} names several successors; it may have been stolen.")
            (successor,) = successors
            if successor in (*former, *followed):
                raise BadRequest(f"The key {shown} names a successor that was already replaced.")
            followed.append(successor)
        return tuple(followed)

    def _run(self, action: str, *words: str, stated: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
        try:
            return subprocess.run(
                [self._program, "-Y", action, *words],
                input=stated,
                capture_output=True,
                check=False,
                timeout=SIGNING_TIMEOUT_S,
            )
        except subprocess.TimeoutExpired as error:
            raise BadRequest(f"ssh-keygen did not answer within {SIGNING_TIMEOUT_S} s.") from error


def _statement(old: str, new: str) -> bytes:
    if new:
        return f"This tap of skills is signed by another key from now on.\nold: {old}\nnew: {new}\n".encode()
    return (
        f"Nothing of this tap of skills may be trusted because of this key any more.\nold: {old}\n".encode()
    )
