"""Drop malformed or excessive parts of a server's messages.

Parts that cannot be repaired are passed on unchanged, so that the caller learns what is wrong. Tool results are never
validated against the server's schema, because a server could choose patterns that take forever to match its own text.
"""

import hashlib
import math
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Self, cast

import anyio

from hermes_acp.core.untrusted_text import plain

if TYPE_CHECKING:
    from types import TracebackType

LIST_KEYS: Final = MappingProxyType(
    {
        "tools": "tools/list",
        "prompts": "prompts/list",
        "resources": "resources/list",
        "resourceTemplates": "resources/templates/list",
        "contents": "resources/read",
        "content": "tools/call",
    }
)
DEFAULT_VERSION: Final = "2025-11-25"
MAX_ENTRIES: Final = 600
MAX_CONCURRENT: Final = 500
YIELD_DELAY_S: Final = 0.5
REQUEST_WEIGHT: Final = 10
MAX_NAMED: Final = 3
OUTPUT_SCHEMA_DIGEST: Final = "hermes.dev/output-schema"

Record = dict[str, Any]


class MessageFilter:
    """A server's messages as they arrive; `on_loss` is called with a description of the dropped entries."""

    def __init__(self, messages: Any, on_loss: Callable[[str], None]) -> None:
        self._messages = messages
        self._on_loss = on_loss
        self._version = DEFAULT_VERSION
        self._came = 0
        self._since_s = -math.inf

    @property
    def last_context(self) -> Any:
        """The context in which the last message was sent, if the transport knows it."""
        return getattr(self._messages, "last_context", None)

    async def receive(self) -> Any:
        """Return the next message."""
        return await self._after_yield(self._messages.receive)

    async def aclose(self) -> None:
        """Stop reading messages."""
        await self._messages.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        return await self._after_yield(self._messages.__anext__)

    async def _after_yield(self, receive: Callable[[], Awaitable[Any]]) -> Any:
        """Return the next message, letting other tasks run in between even if the server never stops sending.

        A request counts more against the server's share than a notification, because it must wait until its answer is
        read.
        """
        now_s = anyio.current_time()
        if now_s - self._since_s > YIELD_DELAY_S:
            self._came, self._since_s = 0, now_s
        if self._came > MAX_CONCURRENT:
            await anyio.sleep(self._since_s + YIELD_DELAY_S - now_s)
            self._came, self._since_s = 0, anyio.current_time()
        item = await receive()
        message = getattr(item, "message", None)
        is_question = hasattr(message, "method") and hasattr(message, "id")
        self._came += REQUEST_WEIGHT if is_question else 1
        return self._filtered(item)

    async def __aenter__(self) -> Self:
        await self._messages.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: "TracebackType | None",
    ) -> bool | None:
        return await self._messages.__aexit__(kind, error, trace)

    def _filtered(self, item: Any) -> Any:
        message = getattr(item, "message", None)
        result = getattr(message, "result", None)
        if message is None or not isinstance(result, dict):
            return item
        said = cast("Record", result)
        version = said.get("protocolVersion")
        self._version = version if isinstance(version, str) else self._version
        for key, method in LIST_KEYS.items():
            if not isinstance(said.get(key), list):
                continue
            message.result = said = _truncate(key, said)
            if not self._is_valid(method, said):
                message.result = said = self._repaired(key, method, self._within_limits(key, said))
        return item

    def _within_limits(self, key: str, said: Record) -> Record:
        """Limit the entries to a number that can be checked one by one."""
        entries = cast("list[object]", said[key])
        if len(entries) <= MAX_ENTRIES + 1:
            return said
        self._on_loss(f"some of its {len(entries):,} {key} are malformed; only {MAX_ENTRIES} were checked")
        return {**said, key: entries[:MAX_ENTRIES]}

    def _repaired(self, key: str, method: str, said: Record) -> Record:
        entries = cast("list[object]", said[key])
        sound = [self._is_valid(method, {**said, key: [entry]}) for entry in entries]
        if all(sound) or not self._is_valid(method, {**said, key: []}):
            return said
        if key == "content":
            kept = [
                entry if is_sound else _as_text(entry) for entry, is_sound in zip(entries, sound, strict=True)
            ]
            return {**said, key: kept}
        lost = [entry for entry, is_sound in zip(entries, sound, strict=True) if not is_sound]
        self._on_loss(_report_dropped(key, lost))
        return {**said, key: [entry for entry, is_sound in zip(entries, sound, strict=True) if is_sound]}

    def _is_valid(self, method: str, said: Record) -> bool:
        from mcp_types.methods import validate_server_result
        from pydantic import ValidationError

        try:
            validate_server_result(method, self._version, said)
            _models()[method].model_validate(said, by_name=False)
        except ValidationError:
            return False
        except (KeyError, ValueError):  # not a method in this version, which the caller reports
            return True
        return True


def _models() -> Mapping[str, Any]:
    from mcp import types

    return {
        "tools/list": types.ListToolsResult,
        "prompts/list": types.ListPromptsResult,
        "resources/list": types.ListResourcesResult,
        "resources/templates/list": types.ListResourceTemplatesResult,
        "resources/read": types.ReadResourceResult,
        "tools/call": types.CallToolResult,
    }


def _truncate(key: str, said: Record) -> Record:
    """Limit the number of content parts in a result, and remove the output schemas of listed tools."""
    entries = cast("list[object]", said[key])
    if key == "tools":
        return {**said, key: [_without_output_schema(entry) for entry in entries]}
    left_out = len(entries) - MAX_ENTRIES
    if key != "content" or left_out <= 0:
        return said
    rest = {"type": "text", "text": f"[… {left_out:,} further pieces left out]"}
    return {**said, key: [*entries[:MAX_ENTRIES], rest]}


def _without_output_schema(tool: object) -> object:
    """Replace the `outputSchema` of a listed tool with its digest, which still shows whether the schema changed."""
    if not isinstance(tool, dict) or "outputSchema" not in tool:
        return cast("object", tool)
    entry = cast("Record", tool)
    meta = entry.get("_meta")
    known = cast("Record", meta) if isinstance(meta, dict) else {}
    digest = hashlib.sha256(repr(entry["outputSchema"]).encode("utf-8", "replace")).hexdigest()
    rest = {key: value for key, value in entry.items() if key != "outputSchema"}
    return {**rest, "_meta": {**known, OUTPUT_SCHEMA_DIGEST: digest}}


def _as_text(entry: object) -> Record:
    """Convert content of an unknown or invalid kind to text."""
    kind = cast("Record", entry).get("type") if isinstance(entry, dict) else None
    named = f"of the kind {plain(str(kind), 40)}" if isinstance(kind, str) else "of no kind"
    return {"type": "text", "text": f"[content {named}, which is not supported and not shown]"}


def _report_dropped(key: str, lost: list[object]) -> str:
    names = [cast("Record", entry).get("name") for entry in lost if isinstance(entry, dict)]
    named = ", ".join(repr(plain(name, 40)) for name in names[:MAX_NAMED] if isinstance(name, str))
    more = " …" if len(lost) > MAX_NAMED else ""
    return f"{len(lost)} of its {key} are malformed and left out{': ' + named + more if named else ''}"
