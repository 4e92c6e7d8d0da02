"""What a server says, without the parts of it that are malformed.

Knows: which answers are lists, that one wrong entry must not cost the others. Does not know: who asked, or what for.
What cannot be mended this way is left as it is, so that whoever asked is told what is wrong.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Self, cast

from hermes_acp.core.untrusted import plain

if TYPE_CHECKING:
    from types import TracebackType

LISTS: Final = MappingProxyType(
    {
        "tools": "tools/list",
        "prompts": "prompts/list",
        "resources": "resources/list",
        "resourceTemplates": "resources/templates/list",
        "contents": "resources/read",
        "content": "tools/call",
    }
)
USUAL_VERSION: Final = "2025-11-25"
MOST_NAMED: Final = 3

Record = dict[str, Any]


class Sieve:
    """One server's messages as they come; `on_loss` is told, in words, of entries that were left out."""

    def __init__(self, messages: Any, on_loss: Callable[[str], None]) -> None:
        self._messages = messages
        self._on_loss = on_loss
        self._version = USUAL_VERSION

    @property
    def last_context(self) -> Any:
        """The context that the last message was sent in, where the way to the server knows it."""
        return getattr(self._messages, "last_context", None)

    async def receive(self) -> Any:
        """Give the next message."""
        return self._sifted(await self._messages.receive())

    async def aclose(self) -> None:
        """Hear no more."""
        await self._messages.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        return self._sifted(await self._messages.__anext__())

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

    def _sifted(self, item: Any) -> Any:
        message = getattr(item, "message", None)
        result = getattr(message, "result", None)
        if message is None or not isinstance(result, dict):
            return item
        said = cast("Record", result)
        version = said.get("protocolVersion")
        self._version = version if isinstance(version, str) else self._version
        for key, method in LISTS.items():
            if isinstance(said.get(key), list) and not self._is_sound(method, said):
                message.result = said = self._mended(key, method, said)
        return item

    def _mended(self, key: str, method: str, said: Record) -> Record:
        entries = cast("list[object]", said[key])
        sound = [self._is_sound(method, {**said, key: [entry]}) for entry in entries]
        if all(sound) or not self._is_sound(method, {**said, key: []}):
            return said
        if key == "content":
            kept = [
                entry if is_sound else _in_words(entry)
                for entry, is_sound in zip(entries, sound, strict=True)
            ]
            return {**said, key: kept}
        lost = [entry for entry, is_sound in zip(entries, sound, strict=True) if not is_sound]
        self._on_loss(_told(key, lost))
        return {**said, key: [entry for entry, is_sound in zip(entries, sound, strict=True) if is_sound]}

    def _is_sound(self, method: str, said: Record) -> bool:
        from mcp_types.methods import validate_server_result
        from pydantic import ValidationError

        try:
            validate_server_result(method, self._version, said)
            _models()[method].model_validate(said, by_name=False)
        except ValidationError:
            return False
        except (KeyError, ValueError):  # a version without this method: what asked for it will say so
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


def _in_words(entry: object) -> Record:
    """Put words in the place of content that is of no known kind, or not as its kind has to be."""
    kind = cast("Record", entry).get("type") if isinstance(entry, dict) else None
    named = f"of the kind {plain(str(kind), 40)}" if isinstance(kind, str) else "of no kind"
    return {"type": "text", "text": f"[content {named}, which is not understood: not shown]"}


def _told(key: str, lost: list[object]) -> str:
    names = [cast("Record", entry).get("name") for entry in lost if isinstance(entry, dict)]
    named = ", ".join(repr(plain(name, 40)) for name in names[:MOST_NAMED] if isinstance(name, str))
    more = " …" if len(lost) > MOST_NAMED else ""
    return f"{len(lost)} of its {key} are malformed and left out{': ' + named + more if named else ''}"
