"""Write the checksums of a release and sign them with a person's key."""

from pathlib import Path
from typing import Final

from building import Build, ReleaseError, digest

CHECKSUMS: Final = "SHA256SUMS"
NAMESPACE: Final = "hermes-acp-release"


def write_checksums(build: Build) -> Path:
    """Write the checksums of all files in the format of `sha256sum --check`."""
    path = build.out / CHECKSUMS
    files = sorted(each for each in build.out.rglob("*") if each.is_file() and each != path)
    path.write_text("".join(f"{digest(each)}  {each.relative_to(build.out)}\n" for each in files), "utf-8")
    return path


def sign(build: Build, checksums: Path, key: str) -> tuple[Path, str]:
    """Sign the checksums with `ssh:FILE`, `gpg:ID` or `minisign:FILE`; return the signature and how to check it."""
    kind, _, name = key.partition(":")
    if kind == "ssh" and name:
        signature = checksums.with_name(f"{CHECKSUMS}.sig")
        signature.unlink(missing_ok=True)
        build.run("ssh-keygen", "-Y", "sign", "-f", name, "-n", NAMESPACE, checksums)
        check = f"ssh-keygen -Y verify -f SIGNERS -I NAME -n {NAMESPACE} -s {CHECKSUMS}.sig < {CHECKSUMS}"
    elif kind == "gpg" and name:
        signature = checksums.with_name(f"{CHECKSUMS}.asc")
        build.run("gpg", "--batch", "--yes", "--local-user", name, "--armor", "--detach-sign", checksums)
        check = f"gpg --verify {CHECKSUMS}.asc {CHECKSUMS}"
    elif kind == "minisign" and name:
        signature = checksums.with_name(f"{CHECKSUMS}.minisig")
        build.run("minisign", "-S", "-s", name, "-m", checksums)
        check = f"minisign -V -p KEY.pub -m {CHECKSUMS}"
    else:
        raise ReleaseError(f"The key is {key!r}. Use ssh:FILE, gpg:ID or minisign:FILE.")
    if not signature.is_file():
        raise ReleaseError(f"{kind} did not write a signature.")
    return signature, check
