"""Read the list of files in one package index, and fetch a file.

Index pages can be HTML or JSON, and are read over HTTP or from a local folder. Only the named index is read.
Sources: PyPA specifications, "Simple repository API" (PEPs 503, 592, 629, 658, 691).
"""

import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import msgspec
from msgspec import Struct
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import Version

from hermes_acp.config.installation import DISTRIBUTION
from hermes_acp.updates.update_errors import UpdateFailed
from hermes_acp.updates.update_sources import is_safe_address

ACCEPT: Final = (
    "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"
)
TIMEOUT_S: Final = 60.0
MAX_PAGE_BYTES: Final = 16 << 20
MAX_WHEEL_BYTES: Final = 256 << 20
UNREACHABLE: Final = "Check the network and try again."


class OfferedFile(Struct, frozen=True):
    """A wheel that an index offers."""

    version: str
    url: str
    digest: str = ""
    """The file's SHA-256, if the index names it."""
    requires_python: str = ""

    @property
    def fits(self) -> bool:
        """Whether the wheel is compatible with this version of Python."""
        try:
            wanted = SpecifierSet(self.requires_python)
        except InvalidSpecifier:
            return True
        return wanted.contains(".".join(map(str, sys.version_info[:3])), prereleases=True)


class _JsonFile(Struct, rename="kebab"):
    filename: str
    url: str
    hashes: dict[str, str] = {}
    requires_python: str | None = None
    yanked: bool | str = False


class _JsonPage(Struct):
    files: list[_JsonFile]


async def offered_files(index: str) -> list[OfferedFile]:
    """Return the wheels that an index offers, without yanked ones. Raises UpdateFailed."""
    page = f"{index.rstrip('/')}/{DISTRIBUTION}/"
    content, kind = await _read(page, MAX_PAGE_BYTES)
    if "json" in kind:
        return list(_of_json(content, page))
    return list(_of_html(content, page))


async def fetch_wheel(url: str, digest: str, into: Path) -> Path:
    """Write a wheel into a folder and return its path. Raises UpdateFailed or OSError."""
    address, fragment = urldefrag(url)
    digest = digest or fragment.removeprefix("sha256=")
    name = unquote(urlsplit(address).path).rpartition("/")[2]
    if version_in(name) is None:
        raise UpdateFailed(f"{address} is not a wheel of hermes-acp.")
    content, _ = await _read(address, MAX_WHEEL_BYTES)
    found = hashlib.sha256(content).hexdigest()
    if digest and found != digest:
        raise UpdateFailed(f"{address} has the SHA-256 {found} instead of {digest}.")
    path = into / name
    path.write_bytes(content)
    return path


def version_in(filename: str) -> Version | None:
    """Return the version of a wheel of hermes-acp by its file name, or None for any other file."""
    try:
        name, version, _, _ = parse_wheel_filename(filename)
    except InvalidWheelFilename:
        return None
    return version if name == canonicalize_name(DISTRIBUTION) else None


def _of_html(content: bytes, page: str) -> Iterator[OfferedFile]:
    import turbohtml

    for link in turbohtml.parse(content.decode(errors="replace")).select("a"):
        version = version_in(link.text.strip())
        if version is None or "data-yanked" in link.attrs:
            continue
        url, fragment = urldefrag(urljoin(page, str(link.attrs.get("href") or "")))
        digest = fragment.removeprefix("sha256=") if fragment.startswith("sha256=") else ""
        yield OfferedFile(str(version), url, digest, str(link.attrs.get("data-requires-python") or ""))


def _of_json(content: bytes, page: str) -> Iterator[OfferedFile]:
    try:
        files = msgspec.json.decode(content, type=_JsonPage).files
    except msgspec.DecodeError as error:
        raise UpdateFailed(f"{page} is not a page of a package index: {error}.") from error
    for file in files:
        version = version_in(file.filename)
        if version is not None and not file.yanked:
            yield OfferedFile(
                str(version),
                urljoin(page, file.url),
                file.hashes.get("sha256", ""),
                file.requires_python or "",
            )


async def _read(url: str, most: int) -> tuple[bytes, str]:
    """Return the content at an address and its media type."""
    if not is_safe_address(url):
        raise UpdateFailed(f"{url} is not encrypted.", hint="Use an address that starts with https://.")
    if urlsplit(url).scheme == "file":
        return _read_file(url), "text/html"
    import httpx2

    try:
        async with (
            httpx2.AsyncClient(timeout=TIMEOUT_S, follow_redirects=True) as client,
            client.stream("GET", url, headers={"Accept": ACCEPT}) as answer,
        ):
            if answer.status_code != 200:
                raise UpdateFailed(f"{url} answered with status {answer.status_code}.")
            if not is_safe_address(str(answer.url)):
                raise UpdateFailed(f"{url} leads to {answer.url}, which is not encrypted.")
            content = bytearray()
            async for piece in answer.aiter_bytes():
                content += piece
                if len(content) > most:
                    raise UpdateFailed(f"{url} serves more than {most >> 20} MB.")
            return bytes(content), answer.headers.get("content-type", "")
    except httpx2.HTTPError as error:
        reason = str(error) or type(error).__name__
        raise UpdateFailed(f"{url} could not be read: {reason}.", hint=UNREACHABLE) from error


def _read_file(url: str) -> bytes:
    path = Path(unquote(urlsplit(url).path))
    try:
        return (path / "index.html" if path.is_dir() else path).read_bytes()
    except OSError as error:
        raise UpdateFailed(f"{path} could not be read: {error.strerror}.") from error
