"""A workspace in a Vercel sandbox, through Vercel's own library.

The library is `vercel`. Its credentials are VERCEL_OIDC_TOKEN, or VERCEL_TOKEN together with
VERCEL_TEAM_ID and VERCEL_PROJECT_ID.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from hermes_acp.config.sections.backend_settings import VercelSettings
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
    from vercel.sandbox import Sandbox, SandboxServiceOptions
    from vercel.sandbox.client import SandboxClient

KEYS: Final = ("VERCEL_TOKEN", "VERCEL_TEAM_ID", "VERCEL_PROJECT_ID")
RUNNING: Final = ("pending", "running")


class VercelSandbox:
    """One sandbox, which is stopped to keep it and destroyed with everything in it on release.

    Its name is its handle.
    """

    name = "Vercel"

    def __init__(self, settings: VercelSettings, environment: Mapping[str, str]) -> None:
        self._settings = settings
        self._environment = environment
        self._client: SandboxClient | None = None
        self._sandbox: Sandbox | None = None

    @property
    def handle(self) -> str:
        """The sandbox's name."""
        return self._sandbox.name if self._sandbox else ""

    def _connect(self) -> "SandboxClient":
        from vercel.sandbox.client import SandboxClient

        if self._client is None:
            self._client = SandboxClient.create(options=self._options())
        return self._client

    async def attach(self, handle: str) -> SandboxFacts:
        """Find a sandbox by its name. Raises WorkspaceError."""
        from vercel.sandbox import SandboxApiError, SandboxError

        try:
            sandbox = await self._connect().get_sandbox(name=handle)
        except SandboxApiError as error:
            if error.status_code in (404, 410):
                return SandboxFacts("gone")
            raise service_error(self.name, "did not find the sandbox", error) from error
        except SandboxError as error:
            raise service_error(self.name, "did not find the sandbox", error) from error
        self._sandbox = sandbox
        vcpus, memory = sandbox.vcpus, sandbox.memory
        resources = f"{vcpus} CPUs, {memory / 1024:g} GiB" if vcpus and memory else ""
        return SandboxFacts("running" if sandbox.status in RUNNING else "suspended", resources)

    async def start(self) -> bool:
        """Resume the stopped sandbox from its files. Raises WorkspaceError."""
        from vercel.sandbox import SandboxError

        try:
            self._sandbox = await self._connect().resume_sandbox(name=self._require_sandbox().name)
        except SandboxError as error:
            raise service_error(self.name, "did not resume the sandbox", error) from error
        return True

    async def suspend(self) -> str:
        """Stop the sandbox; Vercel stores its files. Raises WorkspaceError."""
        from vercel.sandbox import SandboxError

        sandbox = self._require_sandbox()
        try:
            await sandbox.stop()
        except SandboxError as error:
            raise service_error(self.name, "did not stop the sandbox", error) from error
        return sandbox.name

    async def disconnect(self) -> None:
        """Close the connection; the sandbox stops when its time is up."""
        self._sandbox = None
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def provision(self) -> None:
        """Create a sandbox. Raises WorkspaceError."""
        from vercel.sandbox import SandboxError, SandboxResources

        keep_days = self._settings.keep_days
        try:
            self._sandbox = await self._connect().create_sandbox(
                image=self._settings.image,
                execution_time_limit=timedelta(seconds=self._settings.timeout_s),
                resources=SandboxResources(vcpus=self._settings.vcpus),
                persistent=bool(keep_days),
                snapshot_expiration=timedelta(days=keep_days) if keep_days else None,
                tags={"created-by": "hermes-acp"},
                destroy=False,
            )
        except SandboxError as error:
            raise service_error(self.name, "did not create a sandbox", error) from error

    def _options(self) -> "SandboxServiceOptions":
        from vercel.sandbox import SandboxCredentials, SandboxServiceOptions

        given = [self._environment.get(name, "") for name in KEYS]
        if not all(given):
            return SandboxServiceOptions(base_url=self._settings.api_url)
        credentials = SandboxCredentials(*given)

        async def give() -> SandboxCredentials:
            return credentials

        return SandboxServiceOptions(base_url=self._settings.api_url, credentials_factory=give)

    async def execute(self, script: str, max_wait_s: float) -> str:
        """Run a script until it ends and return its output as text. Raises WorkspaceError."""
        from vercel.sandbox import SandboxError

        try:
            done = await self._require_sandbox().run_process(
                "/bin/sh", ["-c", script], kill_after=max_wait_s, capture_output=True
            )
        except SandboxError as error:
            raise service_error(self.name, "did not run a command", error) from error
        return done.stdout or ""

    async def upload(self, path: str, content: bytes) -> None:
        """Write a file. Raises WorkspaceError."""
        from vercel.sandbox import SandboxError

        try:
            await self._require_sandbox().fs.write_bytes(path, content)
        except SandboxError as error:
            raise service_error(self.name, "did not accept a file", error) from error

    async def deprovision(self) -> None:
        """Destroy the sandbox and close the connection; if destroying fails, the sandbox ends when its time is up."""
        from vercel.sandbox import SandboxError

        with suppress(SandboxError):
            if self._sandbox is not None:
                await self._sandbox.destroy(delete_orphan_snapshots=True)
        await self.disconnect()

    def _require_sandbox(self) -> "Sandbox":
        return require_sandbox(self.name, self._sandbox)


class VercelBackend:
    """Opens workspaces on Vercel."""

    name = "vercel"
    keeps_files_here = False
    is_cloud = True

    def open(
        self,
        cwd: str,
        roots: Sequence[str],
        environment: Mapping[str, str],
        private: str = "",
        settings: VercelSettings | None = None,
        denied_paths: DeniedPathLookup = no_denied_paths,
        claim: SandboxClaim | None = None,
    ) -> CompositeWorkspace:
        """Open a workspace in the configured remote folder, but create nothing yet. Raises ConfigError."""
        settings = settings or VercelSettings()
        service = self.service(environment, settings)
        kept = claim if settings.keep_days else None
        return open_cloud_workspace(service, settings.folder, denied_paths, has_network=True, claim=kept)

    def service(
        self, environment: Mapping[str, str], settings: VercelSettings | None = None
    ) -> VercelSandbox:
        """Return a connection to the service that has no sandbox yet. Raises ConfigError."""
        require_library("vercel")
        if not (environment.get("VERCEL_OIDC_TOKEN") or all(environment.get(name) for name in KEYS)):
            raise ConfigError("No credentials for Vercel are set.", hint=f"Set {', '.join(KEYS)} in `.env`.")
        return VercelSandbox(settings or VercelSettings(), environment)


BACKEND = VercelBackend()
