"""A workspace in a Daytona sandbox, through Daytona's own library.

The library is `daytona`. Its key is in DAYTONA_API_KEY, and a non-default address in DAYTONA_API_URL.
"""

import base64
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from hermes_acp.config.sections.backend_settings import DaytonaSettings
from hermes_acp.core.errors import ConfigError
from hermes_acp.workspaces.cloud.cloud_host import DeniedPathLookup, no_denied_paths
from hermes_acp.workspaces.cloud.cloud_workspace import (
    open_cloud_workspace,
    require_library,
    require_sandbox,
    service_error,
)
from hermes_acp.workspaces.composite_workspace import CompositeWorkspace

if TYPE_CHECKING:
    from daytona import AsyncDaytona, AsyncSandbox


class DaytonaSandbox:
    """One sandbox, deleted with everything in it on release."""

    name = "Daytona"

    def __init__(self, settings: DaytonaSettings, environment: Mapping[str, str]) -> None:
        self._settings = settings
        self._environment = environment
        self._client: AsyncDaytona | None = None
        self._sandbox: AsyncSandbox | None = None

    async def provision(self) -> None:
        """Create a sandbox and wait until it runs. Raises WorkspaceError."""
        from daytona import (
            AsyncDaytona,
            CreateSandboxFromImageParams,
            CreateSandboxFromSnapshotParams,
            DaytonaConfig,
            DaytonaError,
        )

        settings = self._settings
        config = DaytonaConfig(
            api_key=self._environment["DAYTONA_API_KEY"],
            api_url=self._environment.get("DAYTONA_API_URL") or None,
            target=self._environment.get("DAYTONA_TARGET") or None,
        )
        self._client = AsyncDaytona(config)
        params = (
            CreateSandboxFromImageParams(image=settings.image)
            if settings.image
            else CreateSandboxFromSnapshotParams(snapshot=settings.snapshot)
        )
        params.auto_stop_interval = settings.idle_minutes
        params.auto_delete_interval = 0  # delete immediately when the sandbox is stopped
        params.network_block_all = not settings.network
        try:
            self._sandbox = await self._client.create(params, timeout=settings.start_timeout_s)
        except DaytonaError as error:
            raise service_error(self.name, "did not create a sandbox", error) from error

    async def execute(self, script: str, max_wait_s: float) -> str:
        """Run a script to its end and return its output as text. Raises WorkspaceError."""
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

        sandbox, self._sandbox = self._sandbox, None
        client, self._client = self._client, None
        if client is not None:
            with suppress(DaytonaError):
                if sandbox is not None:
                    await client.delete(sandbox)
            await client.close()

    def _require_sandbox(self) -> "AsyncSandbox":
        return require_sandbox(self.name, self._sandbox)


class DaytonaBackend:
    """Opens workspaces at Daytona."""

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
    ) -> CompositeWorkspace:
        """Open a workspace in the configured remote folder, but create nothing yet. Raises ConfigError."""
        settings = settings or DaytonaSettings()
        require_library("daytona")
        if not environment.get("DAYTONA_API_KEY"):
            raise ConfigError("No API key for Daytona is set.", hint="Set DAYTONA_API_KEY in `.env`.")
        sandbox = DaytonaSandbox(settings, environment)
        return open_cloud_workspace(sandbox, settings.folder, denied_paths, has_network=settings.network)


BACKEND = DaytonaBackend()
