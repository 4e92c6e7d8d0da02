"""Run one call of a tool file in the child process started for it.

The runner sends `ready`, receives its task, and finally sends one `outcome`: a `text`, the tool's own message if it
`failed`, or the traceback of its `crash`, as well as everything that was `printed` while it ran.
"""

import __future__

import base64
import ctypes
import json
import linecache
import os
import struct
import sys
import tempfile
import traceback
import types
from typing import Any

from hermes_acp.tools.scripts.runner import CapturedOutput, Wire

SET_SECCOMP = 22
FILTER_MODE = 2
KEPT_CHARACTERS = 200_000
MAX_TRACE_CHARS = 6_000


def run() -> None:
    """Receive the task, run it, send the outcome, and end any processes the tool left running."""
    wire = Wire()
    task = wire.ask({"ready": True})
    printed = CapturedOutput()
    outcome = _carried_out(task)
    wire.send({"outcome": {**outcome, "printed": printed.text()}})
    os._exit(0)


def _carried_out(task: dict[str, Any]) -> dict[str, str]:
    name: str = task["name"]
    file = f"{name}.py"
    os.chdir(task["cwd"] or tempfile.gettempdir())
    sys.path += task["paths"]
    sys.argv = [file]
    for each in [module for module in sys.modules if module.partition(".")[0] == "hermes_acp"]:
        del sys.modules[each]
    if task["filter"]:
        _load_filter(base64.b64decode(task["filter"]))
    source: str = task["source"]
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    module = types.ModuleType(name)
    module.__file__ = file
    sys.modules[name] = module
    try:
        # Annotations are not evaluated, so their names do not have to be imported.
        exec(compile(source, file, "exec", __future__.annotations.compiler_flag), vars(module))
        return {"text": _as_text(vars(module)["run"](**task["arguments"]))}
    except SystemExit as end:
        if end.code is None or end.code == 0:
            return {"text": ""}
        return {"failed": str(end.code)[:KEPT_CHARACTERS]}
    except BaseException as fault:  # any exception raised by untrusted code is an outcome
        return {"crash": _trace_of(fault, file)}


def _as_text(value: object) -> str:
    """Return the result of `run` as text. Raises TypeError or ValueError if it is not valid JSON."""
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if len(text) <= KEPT_CHARACTERS:
        return text
    half = KEPT_CHARACTERS // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half:,} characters left out here …]\n{text[-half:]}"


def _trace_of(fault: BaseException, file: str) -> str:
    """Return the traceback, starting at the tool's own first frame."""
    trace = fault.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != file:
        trace = trace.tb_next
    text = "".join(traceback.format_exception(type(fault), fault, trace)).strip()
    return (
        text
        if len(text) <= MAX_TRACE_CHARS
        else f"{text[: MAX_TRACE_CHARS // 3]}\n…\n{text[-MAX_TRACE_CHARS // 2 :]}"
    )


def _load_filter(words: bytes) -> None:
    """Permanently block system calls with seccomp(2), which a process that cannot gain privileges may do."""
    libc = ctypes.CDLL(None, use_errno=True)
    program = ctypes.create_string_buffer(words, len(words))
    header = struct.pack("HxxxxxxP", len(words) // 8, ctypes.addressof(program))
    if libc.prctl(SET_SECCOMP, FILTER_MODE, header, 0, 0) < 0:
        raise OSError(ctypes.get_errno(), "could not drop the right to start programs")
