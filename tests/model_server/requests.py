"""The requests that clients sent."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import anyio
import msgspec

Item = TypeVar("Item")


class BadRequestError(ValueError):
    """The vendor would refuse this request with status 400 and this message."""


class Asked(msgspec.Struct, frozen=True):
    """A vendor-neutral request for generation.

    `last_text` is the text of the last user or tool message, `prompt_text` that of the last message with text written
    by the user, and `step` the number of model answers since that message. `number` is the request's number.
    """

    model: str = ""
    is_streamed: bool = False
    wants_usage: bool = True
    last_text: str = ""
    prompt_text: str = ""
    step: int = 0
    number: int = 0


class Recorded(msgspec.Struct, frozen=True):
    """One request as it arrived; header names in lower case, `body` decoded from JSON (None without one)."""

    number: int
    method: str
    path: str
    headers: dict[str, str]
    body: Any
    vendor: str
    asked: Asked = Asked()


class Tally(Generic[Item]):
    """A growing list that tests can wait on."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self._grown = anyio.Event()

    def add(self, item: Item) -> None:
        self.items.append(item)
        grown, self._grown = self._grown, anyio.Event()
        grown.set()

    async def wait_for(self, count: int) -> Item:
        """Wait until there are `count` items (from 1), then return the last of those."""
        while len(self.items) < count:
            await self._grown.wait()
        return self.items[count - 1]
