"""Run a script in the workspace's own Python, and let it call tools.

The source of this module is sent to any interpreter from 3.8 on, possibly in a container or on another machine.
Each output line is either `+` and a part of a message, answered by an empty line, or `=` and the last part,
answered by a message.
"""

from __future__ import annotations

import atexit
import json
import linecache
import os
import sys
import threading
import traceback
import types
from collections.abc import Callable
from typing import Any

PIECE_CHARACTERS = 3000
MAX_MESSAGE_CHARS = 4 << 20
TOO_LARGE = f"This call contains more than {MAX_MESSAGE_CHARS:,} characters. Do it in smaller parts."
KEPT_BYTES = 16000
DRAIN_TIMEOUT_S = 0.5
NAME = "script"


class ToolError(Exception):
    """A failed call, with the tool's own message."""


class Wire:
    """The pipes to the answering side, separate from those of the script and its children."""

    def __init__(self) -> None:
        self._out = os.fdopen(os.dup(1), "w", encoding="ascii")
        self._in = os.fdopen(os.dup(0), encoding="utf-8")
        self._lock = threading.Lock()
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        os.close(nothing)

    def send(self, message: object) -> None:
        """Send one message."""
        self._send_text(json.dumps(message))

    def _send_text(self, text: str) -> None:
        pieces = [text[start : start + PIECE_CHARACTERS] for start in range(0, len(text), PIECE_CHARACTERS)]
        for piece in pieces[:-1]:
            self._write(f"+{piece}")
            self._in.readline()
        self._write(f"={pieces[-1]}")

    def ask(self, message: object) -> dict[str, Any]:
        """Send one message and return the answer; exit if none comes."""
        text = json.dumps(message)
        if len(text) > MAX_MESSAGE_CHARS:  # it would be refused anyway, after a slow transfer
            return {"text": TOO_LARGE, "is_error": True}
        with self._lock:
            self._send_text(text)
            answer = self._in.readline()
        if not answer:
            os._exit(1)
        return json.loads(answer)

    def _write(self, line: str) -> None:
        self._out.write(f"{line}\n")
        self._out.flush()


class CapturedOutput:
    """The start and the end of what the script and its children print."""

    def __init__(self) -> None:
        self._head = b""
        self._tail = b""
        self._size = 0
        reading, writing = os.pipe()
        os.dup2(writing, 1)
        os.dup2(writing, 2)
        os.close(writing)
        self._thread = threading.Thread(target=self._follow, args=(reading,), daemon=True)
        self._thread.start()

    def _follow(self, reading: int) -> None:
        while chunk := os.read(reading, 65536):
            self._size += len(chunk)
            room = KEPT_BYTES - len(self._head)
            self._head += chunk[:room]
            self._tail = (self._tail + chunk[room:])[-KEPT_BYTES:]

    def text(self) -> str:
        """Return the captured text, excluding what surviving children may print later."""
        sys.stdout.flush()
        sys.stderr.flush()
        os.dup2(0, 1)
        os.dup2(0, 2)
        self._thread.join(DRAIN_TIMEOUT_S)
        head, tail = self._head, self._tail
        if self._size <= len(head) + len(tail):
            return (head + tail).decode("utf-8", "replace")
        # A partial word could be part of a secret, which would not be recognised.
        head = head[: max(head.rfind(b" "), head.rfind(b"\n")) + 1]
        tail = tail[min((at for at in (tail.find(b" "), tail.find(b"\n")) if at >= 0), default=len(tail)) :]
        gap = f"\n[… {self._size - len(head) - len(tail):,} bytes left out here …]\n"
        return head.decode("utf-8", "replace") + gap + tail.decode("utf-8", "replace")


def tools_over(wire: Wire, names: list[str]) -> types.ModuleType:
    """Return a module with a function for each tool."""

    def function_for(name: str) -> Callable[..., str]:
        def call(**arguments: object) -> str:
            answer = wire.ask({"call": name, "arguments": arguments})
            if answer["is_error"]:
                raise ToolError(answer["text"])
            return answer["text"]

        call.__name__ = name
        return call

    module = types.ModuleType(
        "tools", "The tools this script may call, with keyword arguments; each returns text."
    )
    vars(module).update({name: function_for(name) for name in names}, ToolError=ToolError)
    sys.modules["tools"] = module
    return module


def show_fault(kind: type[BaseException], fault: BaseException, trace: types.TracebackType | None) -> None:
    """Print where the script failed, without the frames of this module."""
    while trace is not None and trace.tb_frame.f_code.co_filename != NAME:
        trace = trace.tb_next
    traceback.print_exception(kind, fault, trace)


def run() -> None:
    """Receive the script, run it, and send what it printed when the interpreter exits."""
    wire = Wire()
    task = wire.ask({"ready": True})
    printed = CapturedOutput()
    atexit.register(lambda: wire.send({"printed": printed.text()}))
    sys.excepthook = show_fault
    sys.path.append(task["cwd"])
    sys.argv = [NAME]
    code: str = task["code"]
    linecache.cache[NAME] = (len(code), None, code.splitlines(keepends=True), NAME)
    main = types.ModuleType("__main__")
    vars(main).update(tools=tools_over(wire, task["tools"]), ToolError=ToolError)
    sys.modules["__main__"] = main
    exec(compile(code, NAME, "exec"), vars(main))


if __name__ == "__main__":
    run()
