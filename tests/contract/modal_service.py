"""A small local server that implements Modal's published sandbox protocol, and runs commands on this machine.

Source: the messages and methods of `modal_proto`, which the library itself uses.
"""

from base64 import urlsafe_b64encode
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from socket import create_server
from subprocess import PIPE
from typing import Any, Final

import anyio
from anyio.abc import Process
from google.protobuf.empty_pb2 import Empty
from grpclib import GRPCError, Status
from grpclib.const import Cardinality, Handler
from grpclib.server import Server, Stream
from modal_proto import api_pb2 as api
from modal_proto import task_command_router_pb2 as router

from tests.contract.sandbox_services import VARIABLES

CLIENT: Final = "/modal.client.ModalClient/"
ROUTER: Final = "/modal.task_command_router.TaskCommandRouter/"
BUILDER: Final = "2024.10"
TOKEN: Final = ".".join(
    urlsafe_b64encode(part).decode().rstrip("=") for part in (b"{}", b'{"exp": 4102444800}', b"x")
)
Answer = Callable[[Any], Awaitable[Any]]


class Modal:
    """One account with a few sandboxes, all of which are this machine."""

    def __init__(self) -> None:
        self.url = ""
        self.living: set[str] = set()
        self.images: set[str] = set()
        self.created: list[api.Sandbox] = []
        self._running: dict[str, Process] = {}

    def __mapping__(self) -> dict[str, Handler]:
        done = api.GenericResult(status=api.GenericResult.GENERIC_STATUS_SUCCESS)
        environment = api.EnvironmentGetOrCreateResponse(environment_id="en-1")
        environment.metadata.settings.image_builder_version = BUILDER
        constants: dict[str, tuple[Any, Any]] = {
            "ClientHello": (Empty, api.ClientHelloResponse(image_builder_version=BUILDER)),
            "AuthTokenGet": (api.AuthTokenGetRequest, api.AuthTokenGetResponse(token=TOKEN)),
            "EnvironmentGetOrCreate": (api.EnvironmentGetOrCreateRequest, environment),
            "AppGetOrCreate": (api.AppGetOrCreateRequest, api.AppGetOrCreateResponse(app_id="ap-1")),
            "ImageGetOrCreate": (
                api.ImageGetOrCreateRequest,
                api.ImageGetOrCreateResponse(image_id="im-1", result=done),
            ),
        }
        answers: dict[str, tuple[Any, Any, Answer]] = {
            "SandboxCreateV2": (api.SandboxCreateV2Request, api.SandboxCreateV2Response, self._create),
            "SandboxTerminateV2": (
                api.SandboxTerminateRequest,
                api.SandboxTerminateResponse,
                self._terminate,
            ),
        }
        answers |= {
            "SandboxWaitV2": (api.SandboxWaitRequest, api.SandboxWaitResponse, self._look),
            "SandboxGetTaskIdV2": (
                api.SandboxGetTaskIdRequest,
                api.SandboxGetTaskIdResponse,
                self._task,
            ),
            "SandboxGetCommandRouterAccess": (
                api.SandboxGetCommandRouterAccessRequest,
                api.SandboxGetCommandRouterAccessResponse,
                self._access,
            ),
            "SandboxGetStats": (api.SandboxGetStatsRequest, api.SandboxGetStatsResponse, self._stats),
            "ImageFromId": (api.ImageFromIdRequest, api.ImageFromIdResponse, self._image),
            "ImageDelete": (api.ImageDeleteRequest, Empty, self._delete_image),
        }
        routes: dict[str, tuple[Any, Any, Answer]] = {
            "TaskSnapshotFilesystem": (
                router.TaskSnapshotFilesystemRequest,
                router.TaskSnapshotFilesystemResponse,
                self._snapshot,
            ),
            "TaskExecStart": (router.TaskExecStartRequest, router.TaskExecStartResponse, self._start),
            "TaskExecStdinWrite": (
                router.TaskExecStdinWriteRequest,
                router.TaskExecStdinWriteResponse,
                self._feed,
            ),
            "TaskExecWait": (router.TaskExecWaitRequest, router.TaskExecWaitResponse, self._wait),
        }
        mapping = {f"{CLIENT}{name}": _constant(*given) for name, given in constants.items()}
        mapping |= {f"{CLIENT}{name}": _unary(*given) for name, given in answers.items()}
        mapping |= {f"{ROUTER}{name}": _unary(*given) for name, given in routes.items()}
        read, piece = router.TaskExecStdioReadRequest, router.TaskExecStdioReadResponse
        mapping[f"{ROUTER}TaskExecStdioRead"] = Handler(self._pour, Cardinality.UNARY_STREAM, read, piece)
        return mapping

    async def _create(self, asked: api.SandboxCreateV2Request) -> api.SandboxCreateV2Response:
        self.created.append(asked.definition)
        name = f"sb-{len(self.created)}"
        self.living.add(name)
        given = api.SandboxCreateV2Response(sandbox_id=name, task_id=f"ta-{len(self.created)}")
        given.command_router_access.url = self.url
        given.command_router_access.jwt = TOKEN
        return given

    async def _terminate(self, asked: api.SandboxTerminateRequest) -> api.SandboxTerminateResponse:
        self.living.discard(asked.sandbox_id)
        return api.SandboxTerminateResponse()

    async def _look(self, asked: api.SandboxWaitRequest) -> api.SandboxWaitResponse:
        if asked.sandbox_id in self.living:
            return api.SandboxWaitResponse()
        ended = api.GenericResult(status=api.GenericResult.GENERIC_STATUS_TERMINATED)
        return api.SandboxWaitResponse(result=ended)

    async def _task(self, asked: api.SandboxGetTaskIdRequest) -> api.SandboxGetTaskIdResponse:
        return api.SandboxGetTaskIdResponse(task_id=asked.sandbox_id.replace("sb", "ta"))

    async def _stats(self, asked: api.SandboxGetStatsRequest) -> api.SandboxGetStatsResponse:
        return api.SandboxGetStatsResponse(cost="0.75")

    async def _access(
        self, asked: api.SandboxGetCommandRouterAccessRequest
    ) -> api.SandboxGetCommandRouterAccessResponse:
        return api.SandboxGetCommandRouterAccessResponse(url=self.url, jwt=TOKEN)

    async def _snapshot(
        self, asked: router.TaskSnapshotFilesystemRequest
    ) -> router.TaskSnapshotFilesystemResponse:
        name = f"im-{asked.task_id}-{len(self.images)}"
        self.images.add(name)
        return router.TaskSnapshotFilesystemResponse(image_id=name)

    async def _image(self, asked: api.ImageFromIdRequest) -> api.ImageFromIdResponse:
        if asked.image_id not in self.images:
            raise GRPCError(Status.NOT_FOUND, "no such image")
        return api.ImageFromIdResponse(image_id=asked.image_id)

    async def _delete_image(self, asked: api.ImageDeleteRequest) -> Empty:
        self.images.discard(asked.image_id)
        return Empty()

    async def _start(self, asked: router.TaskExecStartRequest) -> router.TaskExecStartResponse:
        if asked.exec_id not in self._running:
            self._running[asked.exec_id] = await anyio.open_process(
                list(asked.command_args),
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
                env=VARIABLES,
                start_new_session=True,
            )
        return router.TaskExecStartResponse()

    async def _feed(self, asked: router.TaskExecStdinWriteRequest) -> router.TaskExecStdinWriteResponse:
        stdin = self._running[asked.exec_id].stdin
        assert stdin is not None
        if asked.data:
            await stdin.send(asked.data)
        if asked.eof:
            await stdin.aclose()
        return router.TaskExecStdinWriteResponse()

    async def _pour(self, stream: "Stream[Any, Any]") -> None:
        """Read one stream of a process to its end."""
        asked = await stream.recv_message()
        assert asked is not None
        process = self._running[asked.exec_id]
        is_output = asked.file_descriptor == router.TASK_EXEC_STDIO_FILE_DESCRIPTOR_STDOUT
        source = process.stdout if is_output else process.stderr
        assert source is not None
        with suppress(anyio.EndOfStream):
            while True:
                await stream.send_message(router.TaskExecStdioReadResponse(data=await source.receive()))

    async def _wait(self, asked: router.TaskExecWaitRequest) -> router.TaskExecWaitResponse:
        process = self._running[asked.exec_id]
        code = await process.wait()
        return (
            router.TaskExecWaitResponse(code=code) if code >= 0 else router.TaskExecWaitResponse(signal=-code)
        )

    async def close(self) -> None:
        for process in self._running.values():
            await process.aclose()


def _unary(asked: Any, given: Any, answer: Answer) -> Handler:
    async def serve(stream: "Stream[Any, Any]") -> None:
        await stream.send_message(await answer(await stream.recv_message()))

    return Handler(serve, Cardinality.UNARY_UNARY, asked, given)


def _constant(asked: Any, given: Any) -> Handler:
    async def answer(_: Any) -> Any:
        return given

    return _unary(asked, type(given), answer)


@asynccontextmanager
async def serving() -> AsyncGenerator[Modal]:
    """Run the service on loopback."""
    listener = create_server(("127.0.0.1", 0))
    modal = Modal()
    modal.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    server = Server([modal])
    await server.start(sock=listener)
    try:
        yield modal
    finally:
        server.close()
        with anyio.CancelScope(shield=True):
            await modal.close()
            with anyio.move_on_after(5):
                await server.wait_closed()
