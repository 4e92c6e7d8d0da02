"""Connect to a server, list what it offers, call its tools, and reconnect when the connection breaks.

A connection lives in a single task; calls come from other tasks. Source: Model Context Protocol 2026-07-28 and the
earlier versions, which have a handshake.
"""

import math
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import anyio
from anyio.to_thread import run_sync

from hermes_acp.core.errors import HermesError, first_error
from hermes_acp.core.proposals import Progress
from hermes_acp.core.untrusted_text import plain
from hermes_acp.mcp.elicitation import PendingCalls, RequestFailed, ServerRequest
from hermes_acp.mcp.exposed_names import prompt_names, tool_names
from hermes_acp.mcp.message_filter import MessageFilter
from hermes_acp.mcp.server_definitions import ServerContext, ServerSpec, ServerTimeouts, identity_of
from hermes_acp.mcp.server_listing import fetch_offers
from hermes_acp.mcp.server_prompts import ServerPrompt
from hermes_acp.mcp.server_resources import ServerLibrary
from hermes_acp.mcp.server_tools import ServerTool
from hermes_acp.mcp.server_transports import load, open_streams
from hermes_acp.mcp.sign_in.server_login import complete_sign_in, login_of
from hermes_acp.mcp.stdio_transport import Streams
from hermes_acp.mcp.tool_results import fence

if TYPE_CHECKING:
    from mcp import Client

T = TypeVar("T")
LIST_TIMEOUT_S: Final = 20.0
RECONNECT_TIMEOUT_S: Final = 10.0
MIN_RETRY_DELAY_S: Final = 0.1
MAX_RETRY_DELAY_S: Final = 30.0
CLOSED: Final = "Connection closed"
SLOW_NOTICE: Final = (
    "The MCP server {name!r} is not connected yet: "
    "this turn continues without its tools; later turns will have them."
)
OFFLINE_NOTICE: Final = (
    "The MCP server {name!r} cannot be used: {why}. It will be tried {further} more times, then after "
    "`/mcp reconnect {name}` or in a new session. The error output of local servers is in logs/mcp."
)
GIVEN_UP_NOTICE: Final = (
    "The MCP server {name!r} cannot be used: {why}. It was tried {tried} times; "
    "it will be tried again when one of its tools is called, or in a new session."
)
CONNECTION_ERRORS: Final = "The connection to the server broke during the call; its effect is not known."


class ServerConnection:
    """A server and what it offers; the last listing stays available while the server is disconnected."""

    def __init__(
        self,
        spec: ServerSpec,
        slug: str,
        server_context: ServerContext,
        timeouts: ServerTimeouts,
        on_change: Callable[[], None],
    ) -> None:
        """Do not connect yet; `on_change` is called whenever the tools, prompts or resources change."""
        self.slug = slug
        self.tools: Mapping[str, ServerTool] = {}
        self.prompts: Mapping[str, ServerPrompt] = {}
        self.library: ServerLibrary | None = None
        self.settled = anyio.Event()
        self._spec = spec
        self._server_context = server_context
        self._timeouts = timeouts
        self._on_change = on_change
        self.server_login = login_of(spec, server_context, self.revive)
        self.stands = "not connected yet"
        self._standing = PendingCalls(spec.name, timeouts.call_s)
        self._away = ""
        self._losses: list[str] = []
        self._listed: tuple[str, ...] = ()
        self._client: Client | None = None
        self._outcome = anyio.Event()
        self._doubted = anyio.Event()
        self._wanted = anyio.Event()
        self._scope = anyio.CancelScope()
        self._leaving = anyio.Event()
        self._is_ending = False
        self._was_sound = False
        self._was_there = False

    @property
    def name(self) -> str:
        """The server's name, as the user knows it."""
        return self._spec.name

    @property
    def identity(self) -> str:
        """A value that distinguishes this server from others with the same name."""
        return identity_of(self._spec)

    @property
    def news(self) -> list[str]:
        """Return notices about the server's state (late, disconnected, sign-in required) and removed content."""
        late = [] if self.settled.is_set() else [SLOW_NOTICE.format(name=plain(self.name))]
        away = [self._away] if self._away else []
        login = self.server_login
        prompts = login and login.needs_sign_in and not login.has_prompted
        return [*late, *away, *self._listed, *([login.login_prompt()] if login and prompts else [])]

    def revive(self) -> None:
        """Try to connect now if the server is disconnected."""
        self._wanted.set()

    async def keep(self) -> None:
        """Stay connected, retrying after increasing waits; when all retries have failed, wait for a call."""
        with self._scope:
            failures = 0
            while not self._is_ending:
                why = await self._serve()
                if self._is_ending:
                    break
                self.settled.set()
                if self.server_login and self.server_login.needs_sign_in:
                    await self._wait_for_sign_in()
                    continue
                failures = 1 if self._was_sound else failures + 1
                self.stands = f"unavailable after {failures} attempts: {why}"
                await self._wait_to_retry(failures, why)
                failures %= len(self._timeouts.waits_s) + 1

    def end(self) -> None:
        """Disconnect: shut an open connection down properly, and drop anything else at once."""
        self._is_ending = True
        self._leaving.set()
        if self._client:
            self._doubted.set()
        else:
            self._scope.cancel()

    def end_now(self) -> None:
        """Abort whatever is running; the child process is still shut down properly."""
        self._scope.cancel()

    async def _wait_to_retry(self, failures: int, why: str) -> None:
        self._wanted = anyio.Event()
        wait_s = self._timeouts.wait_s(failures)
        name = plain(self.name)
        if not self._was_there and failures == 1:
            self._away = OFFLINE_NOTICE.format(name=name, why=why, further=len(self._timeouts.waits_s))
        if self._was_there and wait_s is None:
            self._away = GIVEN_UP_NOTICE.format(name=name, why=why, tried=failures)
        with anyio.move_on_after(wait_s):
            await self._wanted.wait()

    async def _wait_for_sign_in(self) -> None:
        self.stands = "wants you to sign in"
        self._wanted = anyio.Event()
        self._on_change()
        if self.server_login and self.server_login.needs_sign_in:
            await self._wanted.wait()

    async def _serve(self) -> str:
        """Serve a connection for as long as it lasts; return why it ended."""
        self._was_sound = False
        try:
            await run_sync(load)
            with anyio.CancelScope(deadline=anyio.current_time() + self._timeouts.connect_s) as scope:
                async with anyio.create_task_group() as tasks:
                    await self._run_session(scope, tasks)
                    tasks.cancel_scope.cancel()
        except ExceptionGroup as group:
            return _reason(group)
        except ImportError as error:
            return f"the mcp package cannot be imported ({plain(str(error))})"
        finally:
            self._client = None
            self._announce_outcome()
        waited = f"it did not answer within {self._timeouts.connect_s:g} s"
        return waited if scope.cancelled_caught else "it ended"

    async def _run_session(self, scope: anyio.CancelScope, tasks: anyio.abc.TaskGroup) -> None:
        from mcp import Client
        from mcp.types import Implementation

        from hermes_acp import __version__

        client = Client(
            self._filtered_streams(),
            client_info=Implementation(name="hermes-acp", version=__version__),
            message_handler=self._take_message,
            list_roots_callback=self._list_roots,
            elicitation_callback=self._standing.elicit if self._server_context.can_ask else None,
            cache=None,
        )
        async with client:
            await self._list(client)
            scope.deadline = math.inf
            tasks.start_soon(self._listen, client)
            await self._follow_session(client)

    @asynccontextmanager
    async def _filtered_streams(self) -> AsyncGenerator[Streams]:
        """Open the transport to the server, filtered so that a malformed list entry does not invalidate the others."""
        bearer_auth = self.server_login.bearer_auth if self.server_login else None
        async with open_streams(self._spec, self.slug, self._server_context, bearer_auth) as (
            reading,
            writing,
        ):
            yield MessageFilter(reading, self._note_dropped), writing

    def _note_dropped(self, words: str) -> None:
        self._losses.append(f"The MCP server {plain(self.name)!r}: {words}.")

    async def _follow_session(self, client: "Client") -> None:
        """Serve calls; request the list again whenever it changes or a failed call casts doubt on it."""
        self._client = client
        self._was_there = True
        self._away = ""
        self.stands = "connected"
        self.settled.set()
        self._announce_outcome()
        since_s = anyio.current_time()
        rest_s = 0.0
        while not self._is_ending:
            await self._doubted.wait()
            self._was_sound = self._was_sound or anyio.current_time() - since_s > self._timeouts.steady_s
            self._doubted = anyio.Event()
            if not self._is_ending:
                with anyio.fail_after(LIST_TIMEOUT_S):
                    await self._list(client)
                # If a server's list changes on every read, read it less and less often.
                is_restless = self._doubted.is_set()
                rest_s = min(MAX_RETRY_DELAY_S, 2 * rest_s or MIN_RETRY_DELAY_S) if is_restless else 0.0
                with anyio.move_on_after(rest_s):
                    await self._leaving.wait()

    def _announce_outcome(self) -> None:
        """Release the tasks that wait for the result of a connection attempt."""
        self._outcome.set()
        self._outcome = anyio.Event()

    async def _list(self, client: "Client") -> None:
        self._losses.clear()
        listing = await fetch_offers(client, self._spec, self.slug, self._server_context)
        self._listed = (*dict.fromkeys(self._losses), *listing.news)
        names = tool_names(self.slug, (tool.name for tool in listing.tools))
        self.tools = {names[tool.name]: ServerTool(names[tool.name], tool, self) for tool in listing.tools}
        names = prompt_names(self.slug, (prompt.name for prompt in listing.prompts))
        self.prompts = {
            names[prompt.name]: ServerPrompt(names[prompt.name], prompt, self) for prompt in listing.prompts
        }
        self.library = ServerLibrary(self) if client.server_capabilities.resources else None
        self._on_change()

    async def _listen(self, client: "Client") -> None:
        """Follow changes if the server reports them on a separate stream; reopen the stream when it ends."""
        from mcp import MCPError
        from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost

        capabilities = client.server_capabilities
        tools = bool(capabilities.tools and capabilities.tools.list_changed)
        prompts = bool(capabilities.prompts and capabilities.prompts.list_changed)
        failures = 0
        while tools or prompts:
            try:
                async with client.listen(tools_list_changed=tools, prompts_list_changed=prompts) as changes:
                    self._doubted.set()  # changes from before the subscription are not reported again
                    async for _ in changes:
                        failures = 0
                        self._doubted.set()
            except ListenNotSupportedError:
                return
            except (MCPError, SubscriptionLost):
                self._doubted.set()
            failures += 1
            wait_s = self._timeouts.wait_s(failures)
            if wait_s is None:
                return
            await anyio.sleep(wait_s)

    async def _take_message(self, message: object) -> None:
        from mcp.types import PromptListChangedNotification, ToolListChangedNotification

        if isinstance(message, ToolListChangedNotification | PromptListChangedNotification):
            self._doubted.set()

    async def _list_roots(self, context: object) -> Any:
        from mcp.types import ListRootsResult, Root

        return ListRootsResult(
            roots=[Root.model_validate({"uri": Path(root).as_uri()}) for root in self._server_context.roots]
        )

    def redact_tokens(self, text: str) -> str:
        """Return text from the server without the tokens that were sent with requests."""
        return self.server_login.redact_tokens(text) if self.server_login else text

    def clean(self, text: str) -> str:
        """Return text from the server with attempts to instruct the model removed. Blocks."""
        return self._server_context.clean(text)

    async def ask(self, what: str, inquiry: ServerRequest[T], progress: Progress | None = None) -> T:
        """Send a request; if the server is disconnected, first wait for a while. Raises RequestFailed.

        If the server requires sign-in, the user is asked to sign in first; the server has done nothing until then.
        """
        try:
            return await self._ask(what, inquiry, progress)
        except RequestFailed:
            if not self.server_login or not self.server_login.needs_sign_in:
                raise
            if progress is None or not await complete_sign_in(self.server_login, progress.inquire):
                raise RequestFailed(self.server_login.login_prompt()) from None
        return await self._ask(what, inquiry, progress)

    async def _ask(self, what: str, inquiry: ServerRequest[T], progress: Progress | None) -> T:
        client = await self._present_client()
        if client is None:
            raise RequestFailed(f"The MCP server {plain(self.name)!r} is not connected.")
        try:
            with self._standing.tracked(progress):
                answer = await self._put(client, inquiry)
        except TimeoutError as error:
            raise RequestFailed(
                f"{what} did not answer within {self._timeouts.call_s:g} s; it was cancelled."
            ) from error
        self._was_sound = True
        return answer

    async def _put(self, client: "Client", inquiry: ServerRequest[T]) -> T:
        import httpx2
        from mcp import MCPError
        from mcp.types import CONNECTION_CLOSED

        try:
            return await inquiry(client)
        except MCPError as error:
            # Servers also use the package's own error code for a closed connection, as the protocol allows.
            is_broken = (error.code, error.message) == (CONNECTION_CLOSED, CLOSED)
            self._verify_connection(client, is_broken=is_broken)
            raise RequestFailed(
                CONNECTION_ERRORS if is_broken else await self._fenced(error.message)
            ) from error
        except (RuntimeError, ValueError) as error:
            raise RequestFailed(await self._fenced(f"Invalid answer: {error}")) from error
        except (OSError, httpx2.HTTPError, anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
            self._verify_connection(client, is_broken=True)
            raise RequestFailed(CONNECTION_ERRORS) from error

    async def _fenced(self, text: str) -> str:
        return await run_sync(fence, self.redact_tokens(text), self.name, self.clean)

    async def wait_connected(self) -> bool:
        """Return whether the server is connected, after one more attempt if it was not."""
        return await self._present_client() is not None

    async def _present_client(self) -> "Client | None":
        """Return the connection, after one more attempt if there is none; a broken one may have to close first."""
        with anyio.move_on_after(RECONNECT_TIMEOUT_S):
            for _ in range(2):
                if self._client is None and not self._is_ending:
                    self._wanted.set()
                    await self._outcome.wait()
        return self._client

    def _verify_connection(self, client: "Client", *, is_broken: bool) -> None:
        """Request the list again, which shows whether the connection still works."""
        self._doubted.set()
        if is_broken and self._client is client:
            self._client = None


def _reason(group: BaseException) -> str:
    """Explain why a connection broke, omitting addresses and headers, which may contain secrets."""
    import httpx2
    from mcp import MCPError

    match first_error(group):
        case MCPError(message=message) if message == CLOSED:
            return "it ended"
        case MCPError() as error:
            return plain(error.message)
        case httpx2.HTTPStatusError() as error:
            return f"it answered with HTTP status {error.response.status_code}"
        case httpx2.HTTPError() as error:
            return f"it cannot be reached ({type(error).__name__})"
        case TimeoutError():
            return "it did not list its tools in time"
        case HermesError() as error:
            return error.sentence()
        case OSError() as error:
            return plain(error.strerror or str(error))
        case error:
            return f"it did not speak the protocol ({type(error).__name__})"
