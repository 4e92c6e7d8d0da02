"""Find the newest version at a source and put its wheel into the working folder."""

import hashlib
import shutil
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from anyio import to_thread
from msgspec import Struct
from packaging.version import InvalidVersion, Version

from hermes_acp.updates.environment_builder import EnvironmentBuilder
from hermes_acp.updates.installed_package import InstalledPackage, build_of
from hermes_acp.updates.package_index import OfferedFile, fetch_wheel, offered_files, version_in
from hermes_acp.updates.update_errors import NotUpdatable, UpdateFailed
from hermes_acp.updates.update_programs import Progress, run_installer
from hermes_acp.updates.update_sources import (
    WHEELS,
    AddressSource,
    FolderSource,
    GitSource,
    IndexSource,
    UpdateSource,
    WheelsSource,
)

BUILT: Final = "built"
CLONED: Final = "clone"


class Candidate(Struct, frozen=True):
    """A wheel in the working folder that differs from what is installed."""

    version: str
    wheel: Path
    digest: str

    @property
    def name(self) -> str:
        """The name of its environment."""
        return f"{self.version}-{self.digest[:12]}"


class CandidateFinder:
    """Looks for versions that could replace the installed one."""

    def __init__(
        self,
        installed: InstalledPackage,
        builder: EnvironmentBuilder,
        staging: Path,
        variables: Mapping[str, str],
        progress: Progress,
    ) -> None:
        self._installed = installed
        self._builder = builder
        self._staging = staging
        self._variables = variables
        self._progress = progress

    async def find(self, source: UpdateSource) -> Candidate | None:
        """Return the version to update to, or None if the installed one is the newest. Raises HermesError."""
        match source:
            case FolderSource(path=path):
                wheel = await self._build(Path(path))
            case WheelsSource(path=path):
                wheel = await to_thread.run_sync(self._newest_in, Path(path))
            case AddressSource(url=url):
                wheel = await fetch_wheel(url, "", self._staging)
            case GitSource(url=url, revision=revision):
                wheel = await self._clone_and_build(url, revision)
            case IndexSource(url=url):
                wheel = await self._newest_of_index(url)
        return await to_thread.run_sync(self.candidate, wheel) if wheel else None

    def candidate(self, wheel: Path) -> Candidate | None:
        """Put a wheel into the working folder; return None if the same build is installed. Blocks."""
        version = version_in(wheel.name)
        if version is None:
            raise UpdateFailed(f"{wheel} is not a wheel of hermes-acp.")
        try:
            build = build_of(wheel)
            digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
            if wheel.parent != self._staging:
                wheel = Path(shutil.copyfile(wheel, self._staging / wheel.name))
        except (zipfile.BadZipFile, KeyError, ValueError) as error:
            raise UpdateFailed(f"{wheel} is damaged: {error}.") from error
        except OSError as error:
            raise UpdateFailed(f"{wheel} could not be copied: {error.strerror}.") from error
        return None if build <= self._installed.build else Candidate(str(version), wheel, digest)

    async def _build(self, folder: Path) -> Path:
        _require_own(folder)
        self._progress.step("build", str(folder))
        return await self._builder.build(folder, self._staging / BUILT)

    async def _clone_and_build(self, url: str, revision: str) -> Path:
        """Fetch one commit of a repository and build it."""
        clone = self._staging / CLONED
        clone.mkdir()
        self._progress.step("fetch", url)
        for words in (
            ("git", "init", "--quiet"),
            ("git", "fetch", "--quiet", "--depth=1", "--", url, revision or "HEAD"),
            ("git", "checkout", "--quiet", "FETCH_HEAD"),
        ):
            await run_installer(words, self._progress, variables=self._variables, cwd=clone)
        return await self._build(clone)

    def _newest_in(self, folder: Path) -> Path | None:
        _require_own(folder)
        wheels = {path: version for path in folder.glob(WHEELS) if (version := version_in(path.name))}
        eligible = [path for path, version in wheels.items() if self._is_eligible(version)]
        newest = max(eligible, key=lambda path: wheels[path], default=None)
        if newest:
            _require_own(newest)
        return newest

    async def _newest_of_index(self, url: str) -> Path | None:
        files = await offered_files(url)
        await self._require_origin(url, files)
        eligible = [file for file in files if file.fits and self._is_eligible(Version(file.version))]
        if not eligible:
            return None
        newest = max(eligible, key=lambda file: Version(file.version))
        if Version(newest.version) == self._version():
            return None  # a published version never changes
        self._progress.step("fetch", newest.url)
        return await fetch_wheel(newest.url, newest.digest, self._staging)

    async def _require_origin(self, url: str, files: list[OfferedFile]) -> None:
        """Check that an index offers the installed build, which another project's index would not."""
        same = [file for file in files if Version(file.version) == self._version()]
        for file in same:
            wheel = await fetch_wheel(file.url, file.digest, self._staging)
            if await to_thread.run_sync(build_of, wheel) <= self._installed.build:
                return
        why = "has another package by this name" if files else "does not offer hermes-acp-server"
        why = "has different files for the installed version" if same else why
        raise NotUpdatable(
            f"{url} {why}: version {self._installed.version} was not installed from there.",
            hint="Name a wheel or a clone that you trust with `--from`.",
        )

    def _version(self) -> Version:
        try:
            return Version(self._installed.version)
        except InvalidVersion as error:
            raise UpdateFailed(f"{self._installed.version} is not a version number.") from error

    def _is_eligible(self, version: Version) -> bool:
        """Return whether a version is new enough; pre-releases are only for users of a pre-release."""
        mine = self._version()
        return version >= mine and (mine.is_prerelease or not version.is_prerelease)


def _require_own(path: Path) -> None:
    """Raise UpdateFailed for a source that another user could have placed there."""
    import os

    try:
        status = path.stat()
    except OSError as error:
        raise UpdateFailed(f"{path} could not be read: {error.strerror}.") from error
    if status.st_uid not in (0, os.getuid()):
        raise UpdateFailed(
            f"{path} belongs to another user (user ID {status.st_uid}).",
            hint="Copy it to a folder of your own, and name that with `--from`.",
        )
