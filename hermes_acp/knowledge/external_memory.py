"""A service outside that remembers: asked and told beside the turns, never waited for.

Knows: when it is asked and told, for how long, that its trouble is told once and costs nothing else. Does not know: any
service's format, what a note is. What it answers is somebody else's text: it is scanned, and fenced where it is shown.
"""

import json
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import anyio
from anyio.to_thread import run_sync

from hermes_acp import __version__
from hermes_acp.core.errors import WorkspaceTrouble
from hermes_acp.core.ports import StartTask
from hermes_acp.knowledge.memory_requests import Exchange, MemoryService, Request, Whose

if TYPE_CHECKING:
    import httpx2

LONGEST_RECALL_S: Final = 10.0
LONGEST_KEEP_S: Final = 20.0
GOODBYE_S: Final = 2.0
MOST_BYTES: Final = 1 << 20
SAID_CHARACTERS: Final = 8_000
WORDS_CHARACTERS: Final = 1_000
RECALLED_CHARACTERS: Final = 6_000
FAILURES: Final = 3
REST_S: Final = 600.0


class Memoir:
    """What goes on with the service for one session."""

    def __init__(self, whose: Whose) -> None:
        self.whose = whose
        self.is_opened = False
        self.pending = 0
        self.is_recalling = False
        self.is_idle = anyio.Event()
        self.recalled: str | None = None
        self.told = ""


class OutsideMemory:
    """One service. `clean` takes secrets out of what goes there, `scan` attacks out of what comes from there."""

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
        """Touch no network yet; `names` are those of the workspace and the user there."""
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
        self._memoirs: dict[str, Memoir] = {}
        self._failures = 0
        self._rests_until = 0.0
        self._news: list[str] = []
        self._was_told = False
        self.label: str = service.label

    def prefetch(self, session_id: str, words: str) -> None:
        """Begin to ask what is remembered that has to do with some words, unless that is under way or was done."""
        memoir = self._memoir(session_id)
        if not (memoir.is_recalling or memoir.recalled is not None or self._rests()):
            memoir.is_recalling = True
            self._begin(memoir, partial(self._recall, memoir, words))

    async def take(self, session_id: str, patience_s: float) -> str:
        """Give what was remembered, once, and nothing twice in a row; waits for at most so long."""
        memoir = self._memoir(session_id)
        if memoir.is_recalling and patience_s > 0:
            with anyio.move_on_after(patience_s):
                await memoir.is_idle.wait()
        text, memoir.recalled = memoir.recalled or "", None
        if text == memoir.told:
            return ""
        memoir.told = text or memoir.told
        return text

    def keep(self, session_id: str, exchange: Exchange) -> None:
        """Begin to tell what was said, and to ask what is remembered for the next turn."""
        memoir = self._memoir(session_id)
        if not self._rests():
            memoir.recalled = None
            memoir.is_recalling = True
            self._begin(memoir, partial(self._keep_and_recall, memoir, exchange))

    async def settle(self, session_id: str, patience_s: float = GOODBYE_S) -> None:
        """Wait for what is under way for a session, for at most so long."""
        memoir = self._memoirs.get(session_id)
        if memoir and memoir.pending:
            with anyio.move_on_after(patience_s):
                await memoir.is_idle.wait()

    async def release(self, session_id: str) -> None:
        """Let go of a session that closes."""
        await self.settle(session_id)
        self._memoirs.pop(session_id, None)

    def news(self) -> Sequence[str]:
        """Give sentences the user should read, each once."""
        news, self._news = self._news, []
        return news

    def _memoir(self, session_id: str) -> Memoir:
        whose = Whose(*self._names, session_id)
        return self._memoirs.setdefault(session_id, Memoir(whose))

    def _rests(self) -> bool:
        return time.monotonic() < self._rests_until

    def _begin(self, memoir: Memoir, work: Callable[[], Awaitable[None]]) -> None:
        memoir.pending += 1
        if memoir.is_idle.is_set():
            memoir.is_idle = anyio.Event()

        async def go() -> None:
            try:
                await work()
                self._failures = 0
            except WorkspaceTrouble as trouble:
                self._fail(trouble)
            finally:
                memoir.pending -= 1
                if not memoir.pending:
                    memoir.is_recalling = False
                    memoir.is_idle.set()

        self._start(go)

    def _fail(self, trouble: WorkspaceTrouble) -> None:
        self._failures += 1
        if self._failures >= FAILURES:
            self._rests_until = time.monotonic() + REST_S
        if not self._was_told:
            self._was_told = True
            self._news.append(f"{trouble.sentence()} The agent goes on without what is remembered there.")

    async def _keep_and_recall(self, memoir: Memoir, exchange: Exchange) -> None:
        said, answered = (self._clean(text[:SAID_CHARACTERS]) for text in (exchange.said, exchange.answered))
        with anyio.move_on_after(LONGEST_KEEP_S) as scope:
            await self._send_opened(memoir, self._service.keep(memoir.whose, Exchange(said, answered)))
        if scope.cancelled_caught:
            raise self._trouble("did not answer in time")
        await self._recall(memoir, exchange.said)

    async def _recall(self, memoir: Memoir, words: str) -> None:
        asked = self._clean(" ".join(words.split())[:WORDS_CHARACTERS])
        answer: Any = None
        with anyio.move_on_after(LONGEST_RECALL_S) as scope:
            answer = await self._send_opened(memoir, self._service.recall(memoir.whose, asked))
        if scope.cancelled_caught:
            raise self._trouble("did not answer in time")
        text = "\n".join(self._service.read(answer))[:RECALLED_CHARACTERS]
        memoir.recalled = self._clean(await run_sync(self._scan, text)) if text else ""

    async def _send_opened(self, memoir: Memoir, request: Request) -> Any:
        """Send a request, after what must come before any of this session's."""
        if not memoir.is_opened:
            for each in self._service.opening(memoir.whose):
                await self._send(each)
            memoir.is_opened = True
        return await self._send(request)

    async def _send(self, request: Request) -> Any:
        """Send one request and give its answer's JSON. Raises WorkspaceTrouble."""
        import httpx2

        try:
            async with httpx2.AsyncClient(timeout=LONGEST_KEEP_S, follow_redirects=False) as client:
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
            if len(body) > MOST_BYTES:
                raise self._trouble(f"sent more than {MOST_BYTES:,} bytes")
        if response.status_code in (401, 403):
            raise self._trouble(f"refused its key (HTTP {response.status_code})")
        if not 200 <= response.status_code < 300:
            raise self._trouble(f"failed (HTTP {response.status_code})")
        try:
            return json.loads(body) if body.strip() else None
        except (ValueError, RecursionError):
            raise self._trouble("answered something that is not JSON") from None

    def _trouble(self, what: str) -> WorkspaceTrouble:
        return WorkspaceTrouble(
            f"The memory service {self.label} {what}.", hint="Check memory.service and its key."
        )
