"""Read and check the SSH signatures of git commits.

Source: git-verify-commit(1), gitformat-signature(5), PROTOCOL.sshsig of OpenSSH.
"""

import base64
import binascii
import re
import shutil
from hashlib import sha256
from pathlib import Path
from typing import Final

from hermes_acp.core.errors import BadRequest
from hermes_acp.skills.git_source import GitSource

PRINCIPAL: Final = "publisher"
MAX_KEY_BYTES: Final = 16 << 10
_ARMOR: Final = re.compile(r"-----BEGIN SSH SIGNATURE-----\n(.*?)-----END SSH SIGNATURE-----", re.DOTALL)
_MAGIC: Final = b"SSHSIG\0\0\0\1"
_KEY_TYPE: Final = re.compile(rb"[a-z0-9@.-]{1,60}")


def signing_key(git: GitSource, commit: str) -> str:
    """Return the public key that a commit's signature names, without checking it (see `require_signature`).

    Raises BadRequest if the commit has no SSH signature.
    """
    header = git.commit_text(commit).partition("\n\n")[0].replace("\n ", "\n")
    found = _ARMOR.search(header)
    if not found:
        raise BadRequest(
            f"The commit {commit[:12]} has no SSH signature.",
            hint="A tap's publisher signs commits with `hermes-acp skills publish`.",
        )
    try:
        return _public_key(base64.b64decode("".join(found[1].split()), validate=True))
    except (binascii.Error, ValueError) as error:
        raise BadRequest(f"The signature of the commit {commit[:12]} cannot be read: {error}.") from error


def require_signature(git: GitSource, commit: str, key: str, folder: Path, search_path: str) -> None:
    """Raise BadRequest unless the key validly signed the commit; `folder` is used for a temporary file."""
    program = shutil.which("ssh-keygen", path=search_path)
    if program is None:
        raise BadRequest("ssh-keygen, which checks signatures, is not installed.", hint="Install OpenSSH.")
    allowed = folder / "allowed_signers"
    allowed.write_text(f'{PRINCIPAL} namespaces="git" {key}\n', encoding="utf-8")
    if not git.is_signed(commit, allowed, program):
        raise BadRequest(
            f"The commit {commit[:12]} is not signed by the key {fingerprint(key)}.",
            hint="Do not use it. Ask the publisher if the key has changed.",
        )


def fingerprint(key: str) -> str:
    """Return a public key's fingerprint as `ssh-keygen -l` shows it."""
    digest = base64.b64encode(sha256(base64.b64decode(key.split()[1])).digest()).decode().rstrip("=")
    return f"SHA256:{digest}"


def _public_key(signature: bytes) -> str:
    """Return the public key in a signature as in an authorized_keys file. Raises ValueError."""
    if not signature.startswith(_MAGIC):
        raise ValueError("it is not in the format of ssh-keygen")
    blob, _ = _taken(signature[len(_MAGIC) :])
    kind, _ = _taken(blob)
    if len(blob) > MAX_KEY_BYTES or not _KEY_TYPE.fullmatch(kind):
        raise ValueError("its public key is not valid")
    return f"{kind.decode()} {base64.b64encode(blob).decode()}"


def _taken(data: bytes) -> tuple[bytes, bytes]:
    """Split off a length-prefixed string and return it with the remaining bytes. Raises ValueError."""
    length = int.from_bytes(data[:4], "big")
    if len(data) < 4 + length:
        raise ValueError("it is too short")
    return data[4 : 4 + length], data[4 + length :]
