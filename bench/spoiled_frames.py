"""Generate corrupted frames of a conversation: flipped, cut, spliced, nested, stuffed, rearranged and split."""

import random
from collections.abc import Callable, Iterator
from typing import Any, Final, cast

import msgspec

from hermes_protocol import envelope

NO_TEXT: Final = (b'"\xff"', b"\xc3", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\x00", b"\xef\xbb\xbf")
NO_VALUE: Final = (
    b"null",
    b"true",
    b"[]",
    b"{}",
    b'""',
    b"-0",
    b"1.5",
    b"1e999",
    b"NaN",
    b'"\\ud83d"',
    b'"\\u0000"',
)
HUGE: Final = (b"9" * 400, b"-" + b"9" * 30, b"1e400", b"18446744073709551616", b"0." + b"0" * 300 + b"1")


def list_seeds() -> list[bytes]:
    """Return the frames of one conversation, in both directions, with every kind of update."""
    block = {"type": "text", "text": "déjà \U0001f600 vu"}
    diff = {"type": "diff", "path": "/w/a.py", "oldText": "x = 1\n", "newText": "x = 2\n"}
    call = {"toolCallId": "c1", "title": "Edit a.py", "kind": "edit", "status": "pending", "content": [diff]}
    option = {"optionId": "yes", "name": "Yes", "kind": "allow_once"}
    files = {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": True}
    server = {"name": "s", "command": "/bin/s", "args": ["-v"], "env": [{"name": "A", "value": "b"}]}
    images: list[object] = [block, {"type": "image", "data": "aGk=", "mimeType": "image/png"}]
    link = {"type": "resource_link", "name": "a", "uri": "file:///w/a.py", "size": 12}
    requests: list[tuple[str, object]] = [
        ("initialize", {"protocolVersion": 1, "clientCapabilities": files}),
        ("session/new", {"cwd": "/w", "mcpServers": [server], "_meta": {"traceparent": "00-1-2-01"}}),
        ("session/load", {"sessionId": "s1", "cwd": "/w", "mcpServers": []}),
        ("session/list", {"cwd": "/w", "cursor": "abc"}),
        ("session/set_config_option", {"sessionId": "s1", "configId": "model", "value": "m"}),
        ("session/prompt", {"sessionId": "s1", "prompt": [*images, link]}),
        ("session/request_permission", {"sessionId": "s1", "toolCall": call, "options": [option]}),
        ("fs/read_text_file", {"sessionId": "s1", "path": "/w/a.py", "line": 1, "limit": 20}),
        ("terminal/create", {"sessionId": "s1", "command": "ls", "args": [], "outputByteLimit": 4096}),
    ]
    updates: list[dict[str, object]] = [
        {"sessionUpdate": "agent_message_chunk", "content": block, "messageId": "m1"},
        {"sessionUpdate": "agent_thought_chunk", "content": block},
        {"sessionUpdate": "tool_call", **call},
        {
            "sessionUpdate": "tool_call_update",
            "toolCallId": "c1",
            "status": "completed",
            "rawOutput": {"n": 1},
        },
        {"sessionUpdate": "plan", "entries": [{"content": "do", "priority": "high", "status": "pending"}]},
        {
            "sessionUpdate": "usage_update",
            "used": 53_000,
            "size": 200_000,
            "cost": {"amount": 0.04, "currency": "USD"},
        },
        {"sessionUpdate": "session_info_update", "title": None},
    ]
    frames = [
        envelope.encode_request(f"r{number % 7}" if number % 2 else number, method, params)
        for number, (method, params) in enumerate(requests)
    ]
    frames += [
        envelope.encode_notification("session/update", {"sessionId": "s1", "update": u}) for u in updates
    ]
    frames += [envelope.encode_notification("session/cancel", {"sessionId": "s1"})]
    frames += [
        envelope.encode_notification("$/cancel_request", {"requestId": number}) for number in (0, 2, "r1")
    ]
    frames += [envelope.encode_result(number, {"content": "text"}) for number in range(1, 5)]
    frames += [
        envelope.encode_error(5, -32602, "no", {"code": "x"}),
        envelope.encode_error(None, -32700, "no"),
    ]
    return [frame.removesuffix(b"\n") for frame in frames]


class Spoiler:
    """Corrupts valid frames, deterministically for a given seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self._seeds = list_seeds()
        self._ways = (
            self._flip_bits,
            self._cut,
            self._drop,
            self._repeat,
            self._splice,
            self._double_key,
            self._nest,
            self._put(HUGE),
            self._put(NO_TEXT),
            self._put((b"\n", b"\r\n", b"\n\n", b"\r")),
            *(self._change_value, self._change_tree) * 5,
        )

    def spoil(self) -> bytes:
        """Return one frame, corrupted up to three times; it may contain newlines, and one frame in twenty is valid."""
        frame = self.random.choice(self._seeds)
        for _ in range(self.random.choice((1, 1, 1, 2, 3)) if self.random.random() < 0.95 else 0):
            frame = self.random.choice(self._ways)(frame)
        return frame

    def split(self, data: bytes) -> Iterator[bytes]:
        """Split data into pieces of random sizes."""
        start = 0
        while start < len(data):
            end = start + self.random.choice((1, 7, 300, 5000, 65_536))
            yield data[start:end]
            start = end

    def _place(self, frame: bytes) -> int:
        return self.random.randrange(len(frame) + 1)

    def _flip_bits(self, frame: bytes) -> bytes:
        flipped = bytearray(frame or b"\0")
        for _ in range(self.random.randint(1, 4)):
            flipped[self.random.randrange(len(flipped))] ^= 1 << self.random.randrange(8)
        return bytes(flipped)

    def _cut(self, frame: bytes) -> bytes:
        return frame[: self._place(frame)]

    def _drop(self, frame: bytes) -> bytes:
        start = self._place(frame)
        return frame[:start] + frame[start + self.random.randint(1, 20) :]

    def _repeat(self, frame: bytes) -> bytes:
        start = self._place(frame)
        piece = frame[start : start + self.random.randint(1, 40)]
        return frame[:start] + piece * self.random.choice((2, 3, 50)) + frame[start:]

    def _splice(self, frame: bytes) -> bytes:
        other = self.random.choice(self._seeds)
        return frame[: self._place(frame)] + other[self._place(other) :]

    def _double_key(self, frame: bytes) -> bytes:
        key = self.random.choice(
            (b"id", b"method", b"params", b"result", b"error", b"jsonrpc", b"sessionId", b"_meta")
        )
        member = b'"%b":%b,' % (key, self.random.choice(NO_VALUE))
        start = frame.find(b"{", self._place(frame)) + 1
        return frame[:start] + member + frame[start:]

    def _nest(self, frame: bytes) -> bytes:
        # Python's recursion limit is about a thousand levels, minus the depth of the caller.
        depth = self.random.choice(
            (3, 60, self.random.randint(850, 1000), self.random.randint(850, 1000), 20_000)
        )
        opening, closing = self.random.choice(((b"[", b"]"), (b'{"a":', b"}")))
        start = frame.find(b":", self._place(frame)) + 1
        end = len(frame) if self.random.random() < 0.3 else start
        return frame[:start] + opening * depth + (frame[start:end] or b"0") + closing * depth + frame[end:]

    def _put(self, pieces: tuple[bytes, ...]) -> Callable[[bytes], bytes]:
        def put(frame: bytes) -> bytes:
            start = self._place(frame)
            return frame[:start] + self.random.choice(pieces) + frame[start:]

        return put

    def _change_value(self, frame: bytes) -> bytes:
        start = frame.find(b":", self._place(frame)) + 1
        ends = [end for mark in (b",", b"}") if (end := frame.find(mark, start)) > 0]
        return frame[:start] + self.random.choice((*NO_VALUE, *HUGE)) + frame[min(ends, default=len(frame)) :]

    def _change_tree(self, frame: bytes) -> bytes:
        try:
            tree = msgspec.json.decode(frame)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            return frame
        other = msgspec.json.decode(self.random.choice(self._seeds))
        holder, key = self._choose_member(tree)
        if holder is None:
            return msgspec.json.encode([tree, other])
        donor, donor_key = self._choose_member(other)
        if donor is None or self.random.random() < 0.3:
            del holder[key]
        else:
            holder[key] = donor[donor_key]
        return msgspec.json.encode(tree)

    def _choose_member(self, tree: Any) -> tuple[Any, Any]:
        """Descend at random and return an object or array and a key in it, or None twice."""
        holder: Any = None
        key: str | int | None = None
        while isinstance(tree, dict | list) and tree:
            holder = cast(Any, tree)
            key = self.random.choice(list(holder) if isinstance(tree, dict) else range(len(holder)))
            tree = holder[key]
            if self.random.random() < 0.3:
                break
        return holder, key
