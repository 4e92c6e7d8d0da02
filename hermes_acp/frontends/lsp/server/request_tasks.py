"""Run the work of requests as tasks in one group, and turn failures into error responses.

A cancelled request is answered after its work has ended. This is the error boundary of this frontend: unexpected
exceptions are caught only here, and are shown only as a trace ID.
"""

from collections.abc import Awaitable, Callable
from typing import Any, Final, Generic, TypeVar, cast

import anyio
import anyio.abc
from lsprotocol.types import ErrorCodes, LSPErrorCodes
from pygls.exceptions import JsonRpcException

from hermes_acp.core.errors import BadRequest, HermesError, SessionNotFound
from hermes_acp.core.ports.runtime_ports import Ids
from hermes_acp.frontends.lsp import messages

T = TypeVar("T")
ReportBug = Callable[[BaseException, str], None]
CANCELLED: Final = LSPErrorCodes.RequestCancelled.value


class PendingResult(Generic[T]):
    """The pending result of some work; only the first result or error counts."""

    def __init__(self) -> None:
        self.scope = anyio.CancelScope()
        self._is_there = anyio.Event()
        self._value: T | None = None
        self._error: JsonRpcException | None = None

    def settle(self, value: T) -> None:
        """Set the result without waiting for the work to end."""
        if not self._is_there.is_set():
            self._value = value
            self._is_there.set()

    def fail(self, error: JsonRpcException) -> None:
        """Set the error that `wait` raises."""
        if not self._is_there.is_set():
            self._error = error
            self._is_there.set()

    async def wait(self) -> T:
        """Wait for the result; if cancelled, cancel the work and wait until it ends. Raises JsonRpcException."""
        try:
            await self._is_there.wait()
        except anyio.get_cancelled_exc_class():
            self.scope.cancel()
            with anyio.CancelScope(shield=True):
                await self._is_there.wait()
            raise
        if self._error:
            raise self._error
        return cast("T", self._value)


class RequestTasks:
    """The tasks of pending requests."""

    def __init__(self, group: anyio.abc.TaskGroup, report_bug: ReportBug, ids: Ids) -> None:
        self._group = group
        self._report_bug = report_bug
        self._ids = ids

    def begin(self, work: Callable[[], Awaitable[T]]) -> PendingResult[T]:
        """Start some work; return its future result."""
        promise = PendingResult[T]()
        self._group.start_soon(self._do, work, promise)
        return promise

    async def run(self, work: Callable[[], Awaitable[T]]) -> T:
        """Run some work and wait for it. Raises JsonRpcException."""
        return await self.begin(work).wait()

    def attempt(self, work: Callable[[], None]) -> None:
        """Run a function at once and report its exceptions."""
        try:
            work()
        except Exception as error:
            self._report_bug(error, self._ids.fresh("bug"))

    async def _do(self, work: Callable[[], Awaitable[Any]], promise: PendingResult[Any]) -> None:
        stopped = JsonRpcException(messages.CANCELLED, CANCELLED)
        try:
            with promise.scope:
                promise.settle(await work())
        except JsonRpcException as error:
            promise.fail(error)
        except HermesError as error:
            promise.fail(answer_to(error))
        except Exception as error:
            trace = self._ids.fresh("bug")
            self._report_bug(error, trace)
            promise.fail(JsonRpcException(messages.internal_error(trace), ErrorCodes.InternalError.value))
        finally:
            promise.fail(stopped)


def answer_to(error: HermesError) -> JsonRpcException:
    """Convert one of our errors to a protocol error."""
    is_callers = isinstance(error, BadRequest | SessionNotFound)
    code = ErrorCodes.InvalidParams if is_callers else LSPErrorCodes.RequestFailed
    return JsonRpcException(error.sentence(), code.value, {"code": error.code})
