"""An external memory service that is queried and updated in the background of turns.

Its answers are untrusted: they are scanned, and fenced when shown.
"""

import json
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import anyio
from anyio.to_thread import run_sync

from hermes_acp import __version__
from hermes_acp.core.errors import WorkspaceError
from hermes_acp.core.ports.runtime_ports import StartTask
from hermes_acp.memory.external_memory_service import (
    ConversationExchange,
    MemoryOwner,
    MemoryRequest,
    MemoryService,
)

if TYPE_CHECKING:
    import httpx2

RECALL_TIMEOUT_S: Final = 10.0
SAVE_TIMEOUT_S: Final = 20.0
SHUTDOWN_GRACE_S: Final = 2.0
MAX_BYTES: Final = 1 << 20
SAID_CHARACTERS: Final = 8_000
WORDS_CHARACTERS: Final = 1_000
RECALLED_CHARACTERS: Final = 6_000
MAX_FAILURES: Final = 3
COOLDOWN_S: Final = 600.0


class SessionMemory:
    """The service's requests and results for one session."""

    def __init__(self, owner: MemoryOwner) -> None:
        self.owner = owner
        self.is_opened = False
        self.pending = 0
        self.is_recalling = False
        self.is_idle = anyio.Event()
        self.recalled: str | None = None
        self.told = ""


class ExternalMemory:
    """A memory service.

    `clean` removes secrets from what is sent; `scan` removes injected instructions from what is returned.
    """

    def __init__(
        self,
        service: MemoryService,
        base_url: str,
        key: str,
        *,
        names: tuple[str, str],
        clean: Callable[[str], str],
        scan: Callable[[str], str],
        start: StartTask,
    ) -> None:
        """Do not connect yet; `names` contains the service's names for the workspace and the user."""
        self._service = service
        self._base_url = base_url.rstrip("/")
        self._headers = {
            "user-agent": f"hermes-acp/{__version__}",
            "accept": "application/json",
            **service.headers(key),
        }
        self._names = names
        self._clean = clean
        self._scan = scan
        self._start = start
        self._session_memories: dict[str, SessionMemory] = {}
        self._failures = 0
        self._cooldown_until = 0.0
        self._news: list[str] = []
        self._was_told = False
        self.label: str = service.label

    def prefetch(self, session_id: str, words: str) -> None:
        """Start a query for memories related to the given words, unless one is running or done."""
        session_memory = self._session_memory(session_id)
        if not (
            session_memory.is_recalling or session_memory.recalled is not None or self._is_cooling_down()
        ):
            session_memory.is_recalling = True
            self._begin(session_memory, partial(self._recall, session_memory, words))

    async def take(self, session_id: str, max_wait_s: float) -> str:
        """Return new memories once, without repeating the last ones. Waits at most `max_wait_s` seconds."""
        session_memory = self._session_memory(session_id)
        if session_memory.is_recalling and max_wait_s > 0:
            with anyio.move_on_after(max_wait_s):
                await session_memory.is_idle.wait()
        text, session_memory.recalled = session_memory.recalled or "", None
        if text == session_memory.told:
            return ""
        session_memory.told = text or session_memory.told
        return text

    def keep(self, session_id: str, exchange: ConversationExchange) -> None:
        """Start sending an exchange and querying memories for the next turn."""
        session_memory = self._session_memory(session_id)
        if not self._is_cooling_down():
            session_memory.recalled = None
            session_memory.is_recalling = True
            self._begin(session_memory, partial(self._save_and_recall, session_memory, exchange))

    async def settle(self, session_id: str, max_wait_s: float = SHUTDOWN_GRACE_S) -> None:
        """Wait for a session's running requests, for at most `max_wait_s` seconds."""
        session_memory = self._session_memories.get(session_id)
        if session_memory and session_memory.pending:
            with anyio.move_on_after(max_wait_s):
                await session_memory.is_idle.wait()

    async def release(self, session_id: str) -> None:
        """Release the resources of a session that is closing."""
        await self.settle(session_id)
        self._session_memories.pop(session_id, None)

    def news(self) -> Sequence[str]:
        """Return notices for the user, each only once."""
        news, self._news = self._news, []
        return news

    def _session_memory(self, session_id: str) -> SessionMemory:
        owner = MemoryOwner(*self._names, session_id)
        return self._session_memories.setdefault(session_id, SessionMemory(owner))

    def _is_cooling_down(self) -> bool:
        return time.monotonic() < self._cooldown_until

    def _begin(self, session_memory: SessionMemory, work: Callable[[], Awaitable[None]]) -> None:
        session_memory.pending += 1
        if session_memory.is_idle.is_set():
            session_memory.is_idle = anyio.Event()

        async def go() -> None:
            try:
                await work()
                self._failures = 0
            except WorkspaceError as trouble:
                self._fail(trouble)
            finally:
                session_memory.pending -= 1
                if not session_memory.pending:
                    session_memory.is_recalling = False
                    session_memory.is_idle.set()

        self._start(go)

    def _fail(self, trouble: WorkspaceError) -> None:
        self._failures += 1
        if self._failures >= MAX_FAILURES:
            self._cooldown_until = time.monotonic() + COOLDOWN_S
        if not self._was_told:
            self._was_told = True
            self._news.append(f"{trouble.sentence()} The agent continues without it.")

    async def _save_and_recall(self, session_memory: SessionMemory, exchange: ConversationExchange) -> None:
        said, answered = (self._clean(text[:SAID_CHARACTERS]) for text in (exchange.said, exchange.answered))
        with anyio.move_on_after(SAVE_TIMEOUT_S) as scope:
            await self._send_opened(
                session_memory, self._service.keep(session_memory.owner, ConversationExchange(said, answered))
            )
        if scope.cancelled_caught:
            raise self._trouble("did not answer in time")
        await self._recall(session_memory, exchange.said)

    async def _recall(self, session_memory: SessionMemory, words: str) -> None:
        asked = self._clean(" ".join(words.split())[:WORDS_CHARACTERS])
        answer: Any = None
        with anyio.move_on_after(RECALL_TIMEOUT_S) as scope:
            answer = await self._send_opened(
                session_memory, self._service.recall(session_memory.owner, asked)
            )
        if scope.cancelled_caught:
            raise self._trouble("did not answer in time")
        text = "\n".join(self._service.read(answer))[:RECALLED_CHARACTERS]
        session_memory.recalled = self._clean(await run_sync(self._scan, text)) if text else ""

    async def _send_opened(self, session_memory: SessionMemory, request: MemoryRequest) -> Any:
        """Send a request after this session's setup requests."""
        if not session_memory.is_opened:
            for each in self._service.setup_requests(session_memory.owner):
                await self._send(each)
            session_memory.is_opened = True
        return await self._send(request)

    async def _send(self, request: MemoryRequest) -> Any:
        """Send a request and return the JSON in its response. Raises WorkspaceError."""
        import httpx2

        try:
            async with httpx2.AsyncClient(timeout=SAVE_TIMEOUT_S, follow_redirects=False) as client:
                made = client.build_request(
                    "GET" if request.body is None else "POST",
                    self._base_url + request.path,
                    params=dict(request.parameters) or None,
                    json=request.body,
                    headers=self._headers,
                )
                response = await client.send(made, stream=True)
                try:
                    return await self._read(response)
                finally:
                    await response.aclose()
        except (httpx2.HTTPError, httpx2.StreamError, httpx2.InvalidURL):
            raise self._trouble("cannot be reached") from None

    async def _read(self, response: "httpx2.Response") -> Any:
        body = bytearray()
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > MAX_BYTES:
                raise self._trouble(f"sent more than {MAX_BYTES:,} bytes")
        if response.status_code in (401, 403):
            raise self._trouble(f"refused its key (HTTP {response.status_code})")
        if not 200 <= response.status_code < 300:
            raise self._trouble(f"failed (HTTP {response.status_code})")
        try:
            return json.loads(body) if body.strip() else None
        except (ValueError, RecursionError):
            raise self._trouble("did not answer with JSON") from None

    def _trouble(self, what: str) -> WorkspaceError:
        return WorkspaceError(
            f"The memory service {self.label} {what}.", hint="Check memory.service and its key."
        )
