"""Update this installation: find a version, install it next to the others, check it, switch to it, and switch back."""

import os
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import anyio
from anyio import to_thread
from msgspec import Struct

from hermes_acp.config.installation import DISTRIBUTION, command_of, this_installation
from hermes_acp.core.errors import BadRequest, HermesError, StorageError
from hermes_acp.storage.private_files import remove_folder
from hermes_acp.updates.configured_index import configured_index
from hermes_acp.updates.environment_builder import EnvironmentBuilder
from hermes_acp.updates.installation_kinds import Kind, kind_of, require_updatable, this_machine
from hermes_acp.updates.installed_package import InstalledPackage, installed_package, read_additions
from hermes_acp.updates.update_candidates import Candidate, CandidateFinder
from hermes_acp.updates.update_checks import UpdateChecks
from hermes_acp.updates.update_errors import NotUpdatable, UpdateFailed
from hermes_acp.updates.update_programs import Progress
from hermes_acp.updates.update_sources import IndexSource, UpdateSource, named_source, source_of
from hermes_acp.updates.version_folders import VersionFolders, VersionRecord

WHEEL_FOLDER: Final = "wheel"
"""The folder in an environment that stores its wheel, so that extras can be added from the same wheel."""


class Wanted(Struct, frozen=True):
    """The source that a user names: a wheel, folder, address or index; empty for the installation's own."""

    source: str = ""
    index: str = ""


class UpdateResult(Struct, frozen=True):
    """The result of an update. `available` is empty if the installed version is the newest."""

    kind: Kind
    version: str
    source: str
    available: str = ""
    is_switched: bool = False
    previous: str = ""


class UpdateService:
    """Updates the installation of the running process."""

    def __init__(self, variables: Mapping[str, str], progress: Progress, root: Path | None = None) -> None:
        self.root = root or this_installation()
        self.folders = VersionFolders(self.root)
        self._variables = variables
        self._progress = progress
        self._checks = UpdateChecks(self.root, variables, progress)

    def require_updatable(self) -> tuple[Kind, InstalledPackage]:
        """Return the kind of this installation and the installed package. Raises NotUpdatable. Blocks."""
        package = installed_package(self.folders.environment(self.folders.current()))
        kind = kind_of(self.root, installed_package(self.root) or package, this_machine())
        require_updatable(self.root, kind, package)
        if package is None:
            raise NotUpdatable(f"{self.root} does not contain hermes-acp.", hint="Install it there again.")
        return kind, package

    async def check(self, wanted: Wanted, cwd: Path) -> UpdateResult:
        """Return the available update without installing it. Raises HermesError."""
        kind, package = await to_thread.run_sync(self.require_updatable)
        with self.folders.lock(), self._staging() as staging:
            source, found = await self._find(wanted, cwd, package, staging)
        available = found.version if found else ""
        return UpdateResult(kind, package.version, source.name, available, previous=self._previous_version())

    async def update(self, wanted: Wanted, cwd: Path) -> UpdateResult:
        """Install the newest version, check it and switch to it. Raises HermesError; then nothing has changed."""
        kind, package = await to_thread.run_sync(self.require_updatable)
        with self.folders.lock(), self._staging() as staging:
            await to_thread.run_sync(self.folders.prune)
            source, found = await self._find(wanted, cwd, package, staging)
            if found is None:
                return UpdateResult(kind, package.version, source.name, previous=self._previous_version())
            await self._install(found, source, package, staging)
            await self._switch(found.name, found.version)
            await to_thread.run_sync(self.folders.prune)
        return UpdateResult(
            kind, package.version, source.name, found.version, is_switched=True, previous=package.version
        )

    async def go_back(self) -> UpdateResult:
        """Switch to the previous version. Raises HermesError; then nothing has changed."""
        kind, package = await to_thread.run_sync(self.require_updatable)
        with self.folders.lock():
            name = self.folders.previous()
            before = name and installed_package(self.folders.environment(name))
            if not before:
                raise BadRequest(
                    f"No version before {package.version} is available.",
                    hint="To install an older one: `hermes-acp update --from SOURCE`.",
                )
            source = self._remembered(package)
            self._progress.step("start", before.version)
            await self._checks.check_start(self._command_of(name), before.version)
            await self._switch(name, before.version)
        return UpdateResult(
            kind, package.version, source, before.version, is_switched=True, previous=self._previous_version()
        )

    def _command_of(self, name: str) -> Path:
        """Return the script of a version, wherever it is stored."""
        kept = command_of(self.folders.folder / name)
        return kept if kept.is_file() else command_of(self.root)

    async def _find(
        self, wanted: Wanted, cwd: Path, package: InstalledPackage, staging: Path
    ) -> tuple[UpdateSource, Candidate | None]:
        builder = self._builder(package)
        finder = CandidateFinder(package, builder, staging, self._variables, self._progress)
        source, wheel = self._source(wanted, cwd, package)
        self._progress.step("look", source.name)
        if wheel:
            return source, await to_thread.run_sync(finder.candidate, wheel)
        return source, await finder.find(source)

    def _builder(self, package: InstalledPackage) -> EnvironmentBuilder:
        return EnvironmentBuilder(self.root, package.installer, self._variables, self._progress)

    def _source(
        self, wanted: Wanted, cwd: Path, package: InstalledPackage
    ) -> tuple[UpdateSource, Path | None]:
        if wanted.index:
            return IndexSource(wanted.index), None
        if wanted.source:
            return named_source(wanted.source, cwd)
        if record := self.folders.record(self.folders.current()):
            return record.source, None
        index = configured_index(self.root, package.installer, self._variables)
        return source_of(package.origin, index), None

    def _remembered(self, package: InstalledPackage) -> str:
        try:
            return self._source(Wanted(), self.root, package)[0].name
        except HermesError:
            return ""

    async def _install(
        self, found: Candidate, source: UpdateSource, package: InstalledPackage, staging: Path
    ) -> None:
        """Create the environment of a version unless it exists already, and check it."""
        name, environment = found.name, self.folders.folder / found.name
        current = self.folders.current()
        if not self.folders.is_whole(name):
            await to_thread.run_sync(remove_folder, environment)
            self._progress.step("install", found.version)
            try:
                await self._fill(environment, found, package)
                await self._checks.check(environment, found.version, command_of(self.root))
            except BaseException:
                await _removed(environment)
                raise
        else:
            await self._checks.check(environment, found.version, command_of(self.root))
        record = VersionRecord(found.version, source, found.digest, time.time(), current)
        await to_thread.run_sync(self.folders.finish, name, record)

    async def _fill(self, environment: Path, found: Candidate, package: InstalledPackage) -> None:
        builder = self._builder(package)
        await builder.create(environment)
        kept = environment / WHEEL_FOLDER / found.wheel.name
        try:
            kept.parent.mkdir()
            os.replace(found.wheel, kept)
        except OSError as error:
            raise UpdateFailed(f"{kept} could not be written: {error.strerror}.") from error
        chosen = await to_thread.run_sync(read_additions, package.environment)
        extras = f"[{','.join(chosen.extras)}]" if chosen.extras else ""
        await builder.install(environment, [f"{DISTRIBUTION}{extras} @ {kept.as_uri()}", *chosen.added])

    async def _switch(self, name: str, version: str) -> None:
        """Switch to a version, and back again if the command then does not start that version."""
        before = self.folders.current()
        self._progress.step("switch", version)
        await to_thread.run_sync(self.folders.switch, name)
        try:
            await self._checks.check_start(command_of(self.root), version)
        except HermesError:
            await to_thread.run_sync(self.folders.switch, before)
            raise

    def _previous_version(self) -> str:
        name = self.folders.previous()
        package = installed_package(self.folders.environment(name)) if name else None
        return package.version if package else ""

    @contextmanager
    def _staging(self) -> Generator[Path]:
        """Prepare the working folder, and remove it at the end."""
        try:
            yield self.folders.clear_staging()
        finally:
            with suppress(StorageError):  # the next update removes any leftovers
                remove_folder(self.folders.staging)


async def _removed(environment: Path) -> None:
    """Remove an unused version, even if the update is cancelled; the next update removes any leftovers."""
    with anyio.CancelScope(shield=True), suppress(HermesError):
        await to_thread.run_sync(remove_folder, environment)
