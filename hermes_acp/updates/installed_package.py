"""The packages in an environment: hermes-acp, its extras, and those that the user added.

Reads the records of installers without importing anything from the environment.
Source: PyPA specifications, "Recording installed projects".
"""

import csv
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Final

from msgspec import Struct
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from hermes_acp.config.installation import DISTRIBUTION, DirectUrl, read_origin

TOOLS: Final = frozenset({"pip", "setuptools", "wheel", "uv"})
"""Packages that every environment contains."""
Build = frozenset[tuple[str, str]]
"""The files of a build with their digests, which identify the build."""


class InstalledPackage(Struct, frozen=True):
    """hermes-acp as installed in one environment."""

    environment: Path
    version: str
    origin: DirectUrl
    build: Build
    installer: str


class Additions(Struct, frozen=True):
    """What the user chose to install with hermes-acp: its extras, and requirements for packages added to them."""

    extras: tuple[str, ...] = ()
    added: tuple[str, ...] = ()


def installed_package(environment: Path) -> InstalledPackage | None:
    """Return the installed package of an environment, or None if hermes-acp is not installed there. Blocks."""
    own = next(iter(distributions(name=DISTRIBUTION, path=_package_folders(environment))), None)
    if own is None:
        return None
    return InstalledPackage(
        environment,
        version=own.version,
        origin=read_origin(own.read_text("direct_url.json") or ""),
        build=_entries((own.read_text("RECORD") or "").splitlines()),
        installer=(own.read_text("INSTALLER") or "").strip(),
    )


def read_additions(environment: Path) -> Additions:
    """Return what the user chose to install in an environment. Reads the metadata of all its packages. Blocks."""
    found = _distributions(environment)
    own = found.get(DISTRIBUTION)
    if own is None:
        return Additions()
    extras = _extras(own, found)
    return Additions(extras, tuple(_added(found, _closure(own, extras, found))))


def build_of(wheel: Path) -> Build:
    """Return the files of a wheel with their digests. Raises OSError, zipfile.BadZipFile, KeyError. Blocks."""
    with zipfile.ZipFile(wheel) as archive:
        (record,) = [name for name in archive.namelist() if name.endswith(".dist-info/RECORD")]
        return _entries(archive.read(record).decode().splitlines())


def _distributions(environment: Path) -> Mapping[str, Distribution]:
    found = distributions(path=_package_folders(environment))
    return {canonicalize_name(name): each for each in found if (name := each.metadata["Name"])}


def _package_folders(environment: Path) -> list[str]:
    return [str(path) for path in environment.glob("lib/python3*/site-packages")]


def _entries(lines: Iterable[str]) -> Build:
    return frozenset((row[0], row[1]) for row in csv.reader(lines) if len(row) > 1 and row[1])


def _requirements(distribution: Distribution, extra: str = "") -> Iterator[Requirement]:
    """Yield the requirements that apply here, either the base ones or those of one extra."""
    for line in distribution.requires or ():
        try:
            required = Requirement(line)
        except InvalidRequirement:
            continue
        applies = required.marker is None or required.marker.evaluate({"extra": extra})
        plain = required.marker is None or required.marker.evaluate({"extra": ""})
        if applies and not (extra and plain):
            yield required


def _extras(own: Distribution, found: Mapping[str, Distribution]) -> tuple[str, ...]:
    """Return the extras whose packages are all installed, because installers do not record the requested extras."""
    offered = own.metadata.get_all("Provides-Extra") or []
    return tuple(
        extra
        for extra in sorted(offered)
        if (needed := [canonicalize_name(each.name) for each in _requirements(own, extra)])
        and all(name in found for name in needed)
    )


def _closure(own: Distribution, extras: Iterable[str], found: Mapping[str, Distribution]) -> set[str]:
    """Return the names of all packages that hermes-acp needs, directly or not."""
    seen: set[str] = {canonicalize_name(own.name)}
    waiting = [*_requirements(own), *(each for extra in extras for each in _requirements(own, extra))]
    asked: set[tuple[str, str]] = set()
    while waiting:
        required = waiting.pop()
        name = canonicalize_name(required.name)
        seen.add(name)
        for extra in ("", *required.extras):
            if name in found and (name, extra) not in asked:
                asked.add((name, extra))
                waiting.extend(_requirements(found[name], extra))
    return seen


def _added(found: Mapping[str, Distribution], needed: set[str]) -> Iterator[str]:
    """Yield the packages that the user added, pinned to their versions, but not those that only these need."""
    others = {name: each for name, each in found.items() if name not in needed and name not in TOOLS}
    below = {canonicalize_name(each.name) for one in others.values() for each in _requirements(one)}
    for name in sorted(others.keys() - below):
        origin = read_origin(others[name].read_text("direct_url.json") or "")
        if not origin.url:
            yield f"{name}=={others[name].version}"
        elif origin.vcs_info:
            yield f"{name} @ {origin.vcs_info.vcs}+{origin.url}@{origin.vcs_info.commit_id}"
        else:
            yield f"{name} @ {origin.url}"
