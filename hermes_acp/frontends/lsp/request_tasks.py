"""Whose the work of a request is: each is a task of one group, ended with it.

Knows: that pygls makes a task of its own for each request, which only waits here; that a cancelled request ends its
work first and is answered then; how a failure becomes an answer. Does not know: any request.
This is the boundary of this face: what nobody foresaw is caught here, once, and told under a trace id alone.
"""

from collections.abc import Awaitable, Callable
from typing import Any, Final, Generic, TypeVar, cast

import anyio
import anyio.abc
from lsprotocol.types import ErrorCodes, LSPErrorCodes
from pygls.exceptions import JsonRpcException

from hermes_acp.core.errors import BadRequest, HermesError, SessionNotFound
from hermes_acp.core.ports.runtime_ports import Ids

T = TypeVar("T")
ReportBug = Callable[[BaseException, str], None]
CANCELLED: Final = LSPErrorCodes.RequestCancelled.value


class PendingResult(Generic[T]):
    """What came, or will come, of some work; the first thing that is said of it counts."""

    def __init__(self) -> None:
        self.scope = anyio.CancelScope()
        self._is_there = anyio.Event()
        self._value: T | None = None
        self._error: JsonRpcException | None = None

    def settle(self, value: T) -> None:
        """Say what came of it, without waiting for the work to end."""
        if not self._is_there.is_set():
            self._value = value
            self._is_there.set()

    def fail(self, error: JsonRpcException) -> None:
        """Say that nothing came of it, and why."""
        if not self._is_there.is_set():
            self._error = error
            self._is_there.set()

    async def wait(self) -> T:
        """Wait for it. Raises JsonRpcException; a cancelled waiter ends the work and waits for its end."""
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
    """The work in hand."""

    def __init__(self, group: anyio.abc.TaskGroup, report_bug: ReportBug, ids: Ids) -> None:
        self._group = group
        self._report_bug = report_bug
        self._ids = ids

    def begin(self, work: Callable[[], Awaitable[T]]) -> PendingResult[T]:
        """Start some work; give what will come of it."""
        promise = PendingResult[T]()
        self._group.start_soon(self._do, work, promise)
        return promise

    async def see_through(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do some work here and wait for it. Raises JsonRpcException, ready to be answered with."""
        return await self.begin(work).wait()

    def attempt(self, work: Callable[[], None]) -> None:
        """Do something at once; what goes wrong with it is reported and stops nothing else."""
        try:
            work()
        except Exception as error:
            self._report_bug(error, self._ids.fresh("bug"))

    async def _do(self, work: Callable[[], Awaitable[Any]], promise: PendingResult[Any]) -> None:
        stopped = JsonRpcException("The request was cancelled.", CANCELLED)
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
            promise.fail(
                JsonRpcException(
                    f"Something went wrong inside hermes-acp ({trace}).", ErrorCodes.InternalError.value
                )
            )
        finally:
            promise.fail(stopped)


def answer_to(error: HermesError) -> JsonRpcException:
    """Return the error of the protocol for one of ours."""
    is_callers = isinstance(error, BadRequest | SessionNotFound)
    code = ErrorCodes.InvalidParams if is_callers else LSPErrorCodes.RequestFailed
    return JsonRpcException(error.sentence(), code.value, {"code": error.code})
