"""A workspace in a Modal sandbox, through Modal's own library.

The library is `modal`. Its credentials are those written by `modal setup`, or MODAL_TOKEN_ID and
MODAL_TOKEN_SECRET.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from shlex import quote
from typing import Any, Final

from hermes_acp.config.sections.backend_settings import ModalSettings
from hermes_acp.core.errors import WorkspaceError
from hermes_acp.workspaces.cloud.cloud_host import DeniedPathLookup, no_denied_paths
from hermes_acp.workspaces.cloud.cloud_workspace import (
    open_cloud_workspace,
    require_library,
    require_sandbox,
    service_error,
)
from hermes_acp.workspaces.composite_workspace import CompositeWorkspace

PIECE_BYTES: Final = 1 << 20


class ModalSandbox:
    """One sandbox, terminated with everything in it on release."""

    name = "Modal"

    def __init__(self, settings: ModalSettings, environment: Mapping[str, str]) -> None:
        self._settings = settings
        self._environment = environment
        self._own_client: Any = None
        self._sandbox: Any = None

    async def provision(self) -> None:
        """Create a sandbox. Raises WorkspaceError."""
        from modal.exception import Error

        modal: Any = import_module("modal")  # its own types are partly unknown
        settings = self._settings
        token_id, secret = (self._environment.get(f"MODAL_TOKEN_{part}", "") for part in ("ID", "SECRET"))
        try:
            if token_id and secret:
                client = self._own_client = await modal.Client.from_credentials.aio(token_id, secret)
            else:
                client = await modal.Client.from_env.aio()
            app = await modal.App.lookup.aio(settings.app, client=client, create_if_missing=True)
            self._sandbox = await modal.Sandbox.create.aio(
                "sleep",
                str(settings.timeout_s),
                app=app,
                image=modal.Image.from_registry(settings.image),
                timeout=settings.timeout_s,
                cpu=settings.cpus,
                memory=settings.memory_mb,
                block_network=not settings.network,
                client=client,
            )
        except Error as error:
            raise service_error(self.name, "did not create a sandbox", error) from error

    async def execute(self, script: str, max_wait_s: float) -> str:
        """Run a script to its end and return its output as text. Raises WorkspaceError."""
        from modal.exception import Error

        try:
            process = await self._require_sandbox().exec.aio(
                "/bin/sh", "-c", script, timeout=max(1, round(max_wait_s))
            )
            output = await process.stdout.read.aio()
            await process.wait.aio()
        except Error as error:
            raise service_error(self.name, "did not run a command", error) from error
        return output

    async def upload(self, path: str, content: bytes) -> None:
        """Write a file through a command's standard input. Raises WorkspaceError."""
        from modal.exception import Error

        try:
            process = await self._require_sandbox().exec.aio("/bin/sh", "-c", f"cat >{quote(path)}")
            for at in range(0, len(content), PIECE_BYTES):
                process.stdin.write(content[at : at + PIECE_BYTES])
                await process.stdin.drain.aio()
            process.stdin.write_eof()
            await process.stdin.drain.aio()
            code = await process.wait.aio()
        except Error as error:
            raise service_error(self.name, "did not accept a file", error) from error
        if code:
            raise WorkspaceError(f"Modal did not accept {len(content):,} bytes.", hint="Is its disk full?")

    async def deprovision(self) -> None:
        """Terminate the sandbox; if that fails, the sandbox ends when its time is up."""
        from modal.exception import Error

        sandbox, self._sandbox = self._sandbox, None
        client, self._own_client = self._own_client, None
        with suppress(Error):
            if sandbox is not None:
                await sandbox.terminate.aio()
                await sandbox.detach.aio()
        if client is not None:
            await client.close.aio()

    def _require_sandbox(self) -> Any:
        return require_sandbox(self.name, self._sandbox)


class ModalBackend:
    """Opens workspaces at Modal."""

    name = "modal"
    keeps_files_here = False
    is_cloud = True

    def open(
        self,
        cwd: str,
        roots: Sequence[str],
        environment: Mapping[str, str],
        private: str = "",
        settings: ModalSettings | None = None,
        denied_paths: DeniedPathLookup = no_denied_paths,
    ) -> CompositeWorkspace:
        """Open a workspace in the configured remote folder, but create nothing yet. Raises ConfigError."""
        settings = settings or ModalSettings()
        require_library("modal")
        sandbox = ModalSandbox(settings, environment)
        return open_cloud_workspace(sandbox, settings.folder, denied_paths, has_network=settings.network)


BACKEND = ModalBackend()
