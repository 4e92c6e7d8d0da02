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
from hermes_acp.workspaces.cloud.cloud_host import DeniedPathLookup, SandboxFacts, no_denied_paths
from hermes_acp.workspaces.cloud.cloud_workspace import (
    open_cloud_workspace,
    require_library,
    require_sandbox,
    service_error,
)
from hermes_acp.workspaces.cloud.kept_sandboxes import SandboxClaim
from hermes_acp.workspaces.composite_workspace import CompositeWorkspace

PIECE_BYTES: Final = 1 << 20
DAY_S: Final = 86_400
SNAPSHOT_TIMEOUT_S: Final = 55
IMAGE: Final = "im-"
"""The prefix of the IDs of images."""


class ModalSandbox:
    """One sandbox, terminated with everything in it on release.

    Its files are kept as an image, from which the next sandbox starts. The handle contains the IDs of the sandbox and
    the image.
    """

    name = "Modal"

    def __init__(self, settings: ModalSettings, environment: Mapping[str, str]) -> None:
        self._settings = settings
        self._environment = environment
        self._own_client: Any = None
        self._sandbox: Any = None
        self._image_id = ""

    @property
    def handle(self) -> str:
        """The IDs of the sandbox and of the image that it started from, if any."""
        sandbox_id = self._sandbox.object_id if self._sandbox is not None else ""
        return f"{sandbox_id} {self._image_id}".strip()

    async def _connect(self) -> Any:
        modal: Any = import_module("modal")  # the library's types are partly unknown
        token_id, secret = (self._environment.get(f"MODAL_TOKEN_{part}", "") for part in ("ID", "SECRET"))
        if not (token_id and secret):
            return await modal.Client.from_env.aio()
        if self._own_client is None:
            self._own_client = await modal.Client.from_credentials.aio(token_id, secret)
        return self._own_client

    async def attach(self, handle: str) -> SandboxFacts:
        """Find a sandbox, or the image with the files of one. Raises WorkspaceError."""
        from modal.exception import Error, NotFoundError

        modal: Any = import_module("modal")
        ids = handle.split()
        self._image_id = next((each for each in ids if each.startswith(IMAGE)), "")
        try:
            for sandbox_id in ids:
                if sandbox_id != self._image_id:
                    sandbox = await modal.Sandbox.from_id.aio(sandbox_id, client=await self._connect())
                    if await sandbox.poll.aio() is None:
                        self._sandbox = sandbox
                        return SandboxFacts("running", cost_usd=await _cost_of(sandbox))
        except NotFoundError:
            pass  # the image may still exist; creating a sandbox from it will tell
        except Error as error:
            raise service_error(self.name, "did not find the sandbox", error) from error
        return SandboxFacts("suspended" if self._image_id else "gone")

    async def start(self) -> bool:
        """Create a sandbox with the files of the suspended one. Raises WorkspaceError."""
        from modal.exception import NotFoundError

        modal: Any = import_module("modal")
        try:
            await self._create(modal.Image.from_id(self._image_id, client=await self._connect()))
        except NotFoundError:
            self._image_id = ""
            return False
        return True

    async def suspend(self) -> str:
        """Save the sandbox's files as an image, then terminate it. Raises WorkspaceError."""
        from modal.exception import Error

        sandbox, earlier = self._require_sandbox(), self._image_id
        try:
            ttl = self._settings.keep_days * DAY_S
            image = await sandbox.snapshot_filesystem.aio(timeout=SNAPSHOT_TIMEOUT_S, ttl=ttl)
            self._image_id = image.object_id
            await sandbox.terminate.aio()
            await sandbox.detach.aio()
            self._sandbox = None
            await self._delete_image(earlier)
        except Error as error:
            raise service_error(self.name, "did not keep the files of the sandbox", error) from error
        return self._image_id

    async def disconnect(self) -> None:
        """Close the connection; a running sandbox ends when its time is up."""
        from modal.exception import Error

        sandbox, self._sandbox = self._sandbox, None
        client, self._own_client = self._own_client, None
        with suppress(Error):
            if sandbox is not None:
                await sandbox.detach.aio()
        if client is not None:
            await client.close.aio()

    async def _delete_image(self, image_id: str) -> None:
        from modal.exception import Error

        experimental: Any = import_module("modal.experimental")
        if image_id:
            with suppress(Error):  # it is deleted when its lifetime ends
                await experimental.image_delete.aio(image_id, client=await self._connect())

    async def provision(self) -> None:
        """Create a sandbox. Raises WorkspaceError."""
        from modal.exception import NotFoundError

        modal: Any = import_module("modal")
        try:
            await self._create(modal.Image.from_registry(self._settings.image))
        except NotFoundError as error:
            raise service_error(self.name, "did not create a sandbox", error) from error

    async def _create(self, image: Any) -> None:
        """Create a sandbox. Raises WorkspaceError, and NotFoundError if there is no such image."""
        from modal.exception import Error, NotFoundError

        modal: Any = import_module("modal")
        settings = self._settings
        try:
            client = await self._connect()
            app = await modal.App.lookup.aio(settings.app, client=client, create_if_missing=True)
            self._sandbox = await modal.Sandbox.create.aio(
                "sleep",
                str(settings.timeout_s),
                app=app,
                image=image,
                timeout=settings.timeout_s,
                cpu=settings.cpus,
                memory=settings.memory_mb,
                block_network=not settings.network,
                client=client,
            )
        except NotFoundError:
            raise
        except Error as error:
            raise service_error(self.name, "did not create a sandbox", error) from error

    async def execute(self, script: str, max_wait_s: float) -> str:
        """Run a script until it ends and return its output as text. Raises WorkspaceError."""
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
        """Terminate the sandbox and delete the image with its files; if that fails, they end when their time is up."""
        from modal.exception import Error

        with suppress(Error):
            if self._sandbox is not None:
                await self._sandbox.terminate.aio()
        await self._delete_image(self._image_id)
        self._image_id = ""
        await self.disconnect()

    def _require_sandbox(self) -> Any:
        return require_sandbox(self.name, self._sandbox)


async def _cost_of(sandbox: Any) -> float | None:
    """Return the cost of a sandbox in US dollars as estimated by the service, if it reports one."""
    from modal.exception import Error

    try:
        stats = await sandbox._experimental_stats.aio()
    except (Error, AttributeError, NotImplementedError):
        return None
    return None if stats.cost is None else float(stats.cost)


class ModalBackend:
    """Opens workspaces on Modal."""

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
        claim: SandboxClaim | None = None,
    ) -> CompositeWorkspace:
        """Open a workspace in the configured remote folder, but create nothing yet. Raises ConfigError."""
        settings = settings or ModalSettings()
        service = self.service(environment, settings)
        kept = claim if settings.keep_days else None
        return open_cloud_workspace(
            service, settings.folder, denied_paths, has_network=settings.network, claim=kept
        )

    def service(self, environment: Mapping[str, str], settings: ModalSettings | None = None) -> ModalSandbox:
        """Return a connection to the service that has no sandbox yet. Raises ConfigError."""
        require_library("modal")
        return ModalSandbox(settings or ModalSettings(), environment)


BACKEND = ModalBackend()
