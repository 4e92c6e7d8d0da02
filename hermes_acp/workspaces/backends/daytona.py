"""A workspace in a Daytona sandbox, through Daytona's own library.

The library is `daytona`. Its key is in DAYTONA_API_KEY, and a non-default address in DAYTONA_API_URL.
"""

import base64
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from hermes_acp.config.sections.backend_settings import DaytonaSettings
from hermes_acp.core.errors import ConfigError
from hermes_acp.workspaces.cloud.cloud_host import DeniedPathLookup, SandboxFacts, no_denied_paths
from hermes_acp.workspaces.cloud.cloud_workspace import (
    open_cloud_workspace,
    require_library,
    require_sandbox,
    service_error,
)
from hermes_acp.workspaces.cloud.kept_sandboxes import SandboxClaim
from hermes_acp.workspaces.composite_workspace import CompositeWorkspace

if TYPE_CHECKING:
    from daytona import AsyncDaytona, AsyncSandbox
DAY_MINUTES: Final = 24 * 60
GONE: Final = ("destroyed", "destroying", "error", "build_failed")


class DaytonaSandbox:
    """One sandbox, which is stopped to keep it and deleted with everything in it on release. Its ID is its handle."""

    name = "Daytona"

    def __init__(self, settings: DaytonaSettings, environment: Mapping[str, str]) -> None:
        self._settings = settings
        self._environment = environment
        self._client: AsyncDaytona | None = None
        self._sandbox: AsyncSandbox | None = None

    @property
    def handle(self) -> str:
        """The sandbox's ID."""
        return self._sandbox.id if self._sandbox else ""

    def _connect(self) -> "AsyncDaytona":
        from daytona import AsyncDaytona, DaytonaConfig

        if self._client is None:
            self._client = AsyncDaytona(
                DaytonaConfig(
                    api_key=self._environment["DAYTONA_API_KEY"],
                    api_url=self._environment.get("DAYTONA_API_URL") or None,
                    target=self._environment.get("DAYTONA_TARGET") or None,
                )
            )
        return self._client

    async def attach(self, handle: str) -> SandboxFacts:
        """Find a sandbox by its ID. Raises WorkspaceError."""
        from daytona import DaytonaError, DaytonaNotFoundError

        try:
            sandbox = await self._connect().get(handle)
        except DaytonaNotFoundError:
            return SandboxFacts("gone")
        except DaytonaError as error:
            raise service_error(self.name, "did not find the sandbox", error) from error
        state = sandbox.state.value if sandbox.state else ""
        if state in GONE:
            return SandboxFacts("gone")
        self._sandbox = sandbox
        resources = f"{sandbox.cpu:g} CPUs, {sandbox.memory:g} GiB, disk {sandbox.disk:g} GiB"
        return SandboxFacts("running" if state == "started" else "suspended", resources)

    async def start(self) -> bool:
        """Start the stopped sandbox and wait until it runs. Raises WorkspaceError."""
        from daytona import DaytonaError

        try:
            await self._require_sandbox().start(timeout=self._settings.start_timeout_s)
        except DaytonaError as error:
            raise service_error(self.name, "did not start the sandbox", error) from error
        return True

    async def suspend(self) -> str:
        """Stop the sandbox; its files stay. Raises WorkspaceError."""
        from daytona import DaytonaError

        sandbox = self._require_sandbox()
        try:
            await sandbox.stop()
        except DaytonaError as error:
            raise service_error(self.name, "did not stop the sandbox", error) from error
        return sandbox.id

    async def disconnect(self) -> None:
        """Close the connection; the sandbox stops when it is idle."""
        self._sandbox = None
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def provision(self) -> None:
        """Create a sandbox and wait until it runs. Raises WorkspaceError."""
        from daytona import CreateSandboxFromImageParams, CreateSandboxFromSnapshotParams, DaytonaError

        settings = self._settings
        params = (
            CreateSandboxFromImageParams(image=settings.image)
            if settings.image
            else CreateSandboxFromSnapshotParams(snapshot=settings.snapshot)
        )
        params.auto_stop_interval = settings.idle_minutes
        params.auto_delete_interval = (
            settings.keep_days * DAY_MINUTES
        )  # 0 deletes it as soon as it is stopped
        params.labels = {"created-by": "hermes-acp"}
        params.network_block_all = not settings.network
        try:
            self._sandbox = await self._connect().create(params, timeout=settings.start_timeout_s)
        except DaytonaError as error:
            raise service_error(self.name, "did not create a sandbox", error) from error

    async def execute(self, script: str, max_wait_s: float) -> str:
        """Run a script until it ends and return its output as text. Raises WorkspaceError."""
        from daytona import DaytonaError

        letters = base64.b64encode(script.encode()).decode("ascii")
        line = f"exec /bin/sh -c 'eval \"$(printf %s {letters} | base64 -d)\"'"
        try:
            done = await self._require_sandbox().process.exec(line, timeout=max(1, round(max_wait_s)))
        except DaytonaError as error:
            raise service_error(self.name, "did not run a command", error) from error
        return done.result

    async def upload(self, path: str, content: bytes) -> None:
        """Write a file. Raises WorkspaceError."""
        from daytona import DaytonaError

        try:
            await self._require_sandbox().fs.upload_file(content, path)
        except DaytonaError as error:
            raise service_error(self.name, "did not accept a file", error) from error

    async def deprovision(self) -> None:
        """Delete the sandbox and close the connection; if deleting fails, the sandbox stops when it is idle."""
        from daytona import DaytonaError

        with suppress(DaytonaError):
            if self._client and self._sandbox:
                await self._client.delete(self._sandbox)
        await self.disconnect()

    def _require_sandbox(self) -> "AsyncSandbox":
        return require_sandbox(self.name, self._sandbox)


class DaytonaBackend:
    """Opens workspaces on Daytona."""

    name = "daytona"
    keeps_files_here = False
    is_cloud = True

    def open(
        self,
        cwd: str,
        roots: Sequence[str],
        environment: Mapping[str, str],
        private: str = "",
        settings: DaytonaSettings | None = None,
        denied_paths: DeniedPathLookup = no_denied_paths,
        claim: SandboxClaim | None = None,
    ) -> CompositeWorkspace:
        """Open a workspace in the configured remote folder, but create nothing yet. Raises ConfigError."""
        settings = settings or DaytonaSettings()
        service = self.service(environment, settings)
        kept = claim if settings.keep_days else None
        return open_cloud_workspace(
            service, settings.folder, denied_paths, has_network=settings.network, claim=kept
        )

    def service(
        self, environment: Mapping[str, str], settings: DaytonaSettings | None = None
    ) -> DaytonaSandbox:
        """Return a connection to the service that has no sandbox yet. Raises ConfigError."""
        require_library("daytona")
        if not environment.get("DAYTONA_API_KEY"):
            raise ConfigError("No API key for Daytona is set.", hint="Set DAYTONA_API_KEY in `.env`.")
        return DaytonaSandbox(settings or DaytonaSettings(), environment)


BACKEND = DaytonaBackend()
