"""What the scripted model says, and which reply a request gets.

JSON form (every field but `rules`/`default` is optional, unknown fields are refused)::

{"rules": [{"when": "fix the bug", "pick": "step", "replies": [ {"thinking": "hm", "text": "I look.", "tool_calls":
[{"name": "read", "arguments": {"path": "a"}}]}, {"text": ["do", "ne"], "usage": {"input_tokens": 90,
"output_tokens": 4, "cached_tokens": 64}}]}], "default": [{"text": "hello", "delay_s": 0.01, "holds": [{"gate":
"go", "after": 1}]}, {"fault": {"status": 429, "retry_after_s": 2}}], "pick": "cycle"}
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, cast

import anyio
import msgspec

from .requests import Recorded

Pick = Literal["order", "cycle", "step"]


class ScriptError(ValueError):
    """The script requests something that cannot be sent on the wire."""


class ToolCall(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A tool call; `arguments` as a string is sent unchanged, valid or not, in `pieces` deltas.

    Without an `id`, each response gets a new one; give the same ID twice for the duplicate-ID fault.
    """

    name: str
    arguments: dict[str, Any] | str = {}
    id: str | None = None
    pieces: int = 1

    def arguments_text(self) -> str:
        if isinstance(self.arguments, str):
            return self.arguments
        return msgspec.json.encode(self.arguments).decode()


class Usage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Token counts; `input_tokens` is the whole prompt, cached and cache-written parts included.

    Each wire reports them its vendor's way: Anthropic subtracts the cached parts from its input_tokens.
    """

    input_tokens: int = 11
    output_tokens: int = 7
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0


class Hold(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Stop until `gate` is set: before the response head (`after=None`) or after that many deltas.

    `reached` is set when the server gets there. In JSON both are names; see `Script.gate`.
    """

    gate: anyio.Event
    after: int | None = None
    reached: anyio.Event | None = None


class Fault(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A fault in an answer. `status` alone is an HTTP error with the vendor's own body.

    The `*_after` fields count deltas (text, thinking and argument pieces) already sent; a reply that is not streamed
    has none, so there any of them takes effect inside the body.
    """

    status: int | None = None
    kind: Literal["", "context_full", "quota_used_up"] = ""
    message: str | None = None
    retry_after_s: float | None = None
    headers: dict[str, str] = {}
    raw_body: str | None = None
    error_after: int | None = None
    """Report the error of `status` (default: overloaded) inside the stream, then end it."""
    cut_after: int | None = None
    """Close the connection in the middle of the next HTTP chunk."""
    reset: bool = False
    """Make the cut a TCP reset instead of an orderly close."""
    silent_after: int | None = None
    """Send nothing more and keep the connection open."""
    end_after: int | None = None
    """End the HTTP response normally, without finish reason or end marker."""
    malformed_after: int | None = None
    malformed: str = 'event: content_block_delta\ndata: {"broken": \n\n'
    """Raw bytes inserted between two events; the stream then continues."""


class Reply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One answer of the model; the order on the wire is thinking, text, tool calls, finish."""

    text: str | tuple[str, ...] = ""
    thinking: str | tuple[str, ...] = ""
    tool_calls: tuple[ToolCall, ...] = ()
    deltas: int = 1
    """The number of deltas into which a `text` given as one string is split."""
    usage: Usage = Usage()
    finish: str | None = None
    """stop, tool_calls, length, content_filter, or any value to be sent unchanged; None derives it from the content."""
    delay_s: float = 0.0
    first_delay_s: float = 0.0
    holds: tuple[Hold, ...] = ()
    write_size_bytes: int | None = None
    """Send the stream in HTTP chunks and TCP writes of this many bytes (1: byte by byte)."""
    splits_utf8: bool = False
    """Split every multi-byte character in two, each half in its own HTTP chunk and TCP write."""
    fault: Fault = Fault()

    def text_deltas(self) -> tuple[str, ...]:
        return _split(self.text, self.deltas)

    def thinking_deltas(self) -> tuple[str, ...]:
        return _split(self.thinking, 1)

    def finish_reason(self) -> str:
        return self.finish or ("tool_calls" if self.tool_calls else "stop")


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Replies for requests that contain `when`.

    `pick`: `order` uses each reply once, `cycle` starts over, `step` takes the reply numbered by the count
    of model answers since the user's last own message, so many sessions and turns may share a rule.
    `order` and `cycle` look for `when` in the last user or tool message, `step` in the user's last own.
    """

    when: str
    replies: tuple[Reply, ...]
    pick: Pick = "order"


Choose = Callable[[Recorded], Reply | None]


class Script:
    """Chooses replies: by `choose`, else by the first matching rule, else from `replies`."""

    def __init__(
        self,
        replies: Sequence[Reply] = (),
        *,
        rules: Sequence[Rule] = (),
        pick: Pick = "order",
        choose: Choose | None = None,
        gates: dict[str, anyio.Event] | None = None,
    ) -> None:
        self._rules = (*rules, Rule("", tuple(replies), pick))
        self._taken = [0] * len(self._rules)
        self._choose = choose
        self._gates = gates if gates is not None else {}

    def gate(self, name: str) -> anyio.Event:
        """Return the gate of that name, made on first use."""
        return self._gates.setdefault(name, anyio.Event())

    def next_reply(self, request: Recorded) -> Reply | None:
        """Return the reply to `request`; None when the script has none left for it."""
        if self._choose is not None:
            return self._choose(request)
        for number, rule in enumerate(self._rules):
            asked = request.asked
            if rule.when not in (asked.prompt_text if rule.pick == "step" else asked.last_text):
                continue
            index = self._index(number, rule, asked.step)
            if index < len(rule.replies):
                return rule.replies[index]
            if rule.when:
                return None
        return None

    def _index(self, number: int, rule: Rule, step: int) -> int:
        if rule.pick == "step":
            return step
        taken = self._taken[number]
        self._taken[number] += 1
        return taken % len(rule.replies) if rule.pick == "cycle" and rule.replies else taken


class _ScriptFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    rules: tuple[Rule, ...] = ()
    default: tuple[Reply, ...] = ()
    pick: Pick = "order"


def load_script(path: Path) -> Script:
    """Read the JSON form; msgspec.ValidationError names the wrong field."""
    gates: dict[str, anyio.Event] = {}

    def decode_gate(wanted: type[Any], value: object) -> object:
        if wanted is not anyio.Event or not isinstance(value, str):
            raise TypeError(f"a gate is named by a string, got {value!r}")
        return gates.setdefault(value, cast(Any, wanted)())

    file = msgspec.json.decode(path.read_bytes(), type=_ScriptFile, dec_hook=decode_gate)
    return Script(file.default, rules=file.rules, pick=file.pick, gates=gates)


def _split(text: str | tuple[str, ...], count: int) -> tuple[str, ...]:
    if isinstance(text, tuple):
        return text
    if not text:
        return ()
    if count > len(text):
        raise ScriptError(f"{count} deltas asked of a text of {len(text)} characters; give a longer text")
    bounds = [len(text) * part // count for part in range(count + 1)]
    return tuple(text[start:end] for start, end in pairwise(bounds))
