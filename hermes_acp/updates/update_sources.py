"""The sources of versions of hermes-acp, and the source of an installation.

An update comes from the source of the installation or from one that its user names, never from a name in an index that
the user did not choose, where anyone could register it.
"""

from pathlib import Path
from typing import Final

from msgspec import Struct

from hermes_acp.config.installation import DirectUrl
from hermes_acp.core.errors import BadRequest
from hermes_acp.updates.update_errors import NotUpdatable

WHEELS: Final = "hermes_acp_server-*.whl"
GIT_PREFIX: Final = "git+"
NAME_ONE: Final = (
    "Name a wheel, a clone, a folder of wheels or an address: `hermes-acp update --from SOURCE`."
)


class FolderSource(Struct, frozen=True, tag_field="kind", tag="folder"):
    """A clone of the repository, from which a wheel is built."""

    path: str

    @property
    def name(self) -> str:
        """The display name."""
        return self.path


class WheelsSource(Struct, frozen=True, tag_field="kind", tag="wheels"):
    """A folder of wheels, of which the newest is used."""

    path: str

    @property
    def name(self) -> str:
        """The display name."""
        return self.path


class AddressSource(Struct, frozen=True, tag_field="kind", tag="address"):
    """The address of a wheel, whose content may change."""

    url: str

    @property
    def name(self) -> str:
        """The display name."""
        return self.url


class GitSource(Struct, frozen=True, tag_field="kind", tag="git"):
    """A repository, and the branch or tag to follow; empty means its default branch."""

    url: str
    revision: str = ""

    @property
    def name(self) -> str:
        """The display name."""
        return f"{self.url}@{self.revision}" if self.revision else self.url


class IndexSource(Struct, frozen=True, tag_field="kind", tag="index"):
    """A package index that the user named."""

    url: str

    @property
    def name(self) -> str:
        """The display name."""
        return self.url


UpdateSource = FolderSource | WheelsSource | AddressSource | GitSource | IndexSource


def source_of(origin: DirectUrl, configured_index: str) -> UpdateSource:
    """Return the source of an installation from its record. Raises NotUpdatable if the record is insufficient."""
    if origin.vcs_info:
        if origin.vcs_info.vcs != "git":
            raise NotUpdatable(f"This was installed from {origin.url}, which git cannot read.", hint=NAME_ONE)
        return GitSource(origin.url, origin.vcs_info.requested_revision)
    if origin.url.startswith("file:"):
        if origin.path is None:
            raise NotUpdatable(
                f"This was installed from {origin.url}, which no longer exists.", hint=NAME_ONE
            )
        return FolderSource(str(origin.path)) if origin.dir_info else WheelsSource(str(origin.path.parent))
    if origin.url:
        return AddressSource(origin.url)
    if configured_index:
        return IndexSource(configured_index)
    raise NotUpdatable(
        "This was installed from a package index by name, but the index was not recorded.",
        hint="hermes-acp is not in a public index, and anyone could register its name there. Name yours once: "
        "`hermes-acp update --index URL`, or a wheel or a clone with `--from`.",
    )


def named_source(text: str, cwd: Path) -> tuple[UpdateSource, Path | None]:
    """Return the source that a user names, and the wheel if the source is a single wheel. Raises BadRequest."""
    if text.startswith(GIT_PREFIX):
        url, at, revision = text.removeprefix(GIT_PREFIX).rpartition("@")
        is_revision = bool(at) and "/" not in revision.partition(":")[0] and "/" in url
        return (GitSource(url, revision) if is_revision else GitSource(text.removeprefix(GIT_PREFIX))), None
    if text.startswith(("https://", "http://")):
        if not is_safe_address(text):
            raise BadRequest(f"{text} is not encrypted.", hint="Use an address that starts with https://.")
        if not text.partition("#")[0].endswith(".whl"):
            raise BadRequest(f"{text} is not the address of a wheel.", hint="For an index, use --index.")
        return AddressSource(text), None
    path = Path(cwd, text.removeprefix("file://")).resolve()
    if path.is_file() and path.suffix == ".whl":
        return WheelsSource(str(path.parent)), path
    if (path / "pyproject.toml").is_file():
        return FolderSource(str(path)), None
    if path.is_dir() and any(path.glob(WHEELS)):
        return WheelsSource(str(path)), None
    why = "contains neither a wheel of hermes-acp nor a clone" if path.is_dir() else "does not exist"
    why = "is not a wheel" if path.is_file() else why
    raise BadRequest(
        f"{path} {why}.", hint="Name a wheel, a clone, a folder of wheels, a URL or git+URL@TAG."
    )


def is_safe_address(url: str) -> bool:
    """Return whether an address is protected against tampering in transit."""
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    return parts.scheme in ("https", "file") or parts.hostname in ("127.0.0.1", "::1", "localhost")
