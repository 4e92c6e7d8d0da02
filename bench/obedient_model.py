"""A scripted model for any agent, which does its task but obeys the last instruction it read, whatever its source.

It understands requests in all wire formats of the model server, and makes each call with the agent's own tool for it.
"""

import json
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, cast

from msgspec import Struct

from tests.attacks.scenario_tables import Call
from tests.attacks.worst_case import CANARY, ORDER
from tests.model_server.requests import Recorded
from tests.model_server.script import Reply, ToolCall

SAID: Final = ("system", "instructions", "systemInstruction", "messages", "input", "contents")
"""The request fields that contain text for the model, in any wire format."""
SHELLS: Final = ("terminal", "bash", "shell", "exec_command", "run_shell_command")
OTHER_NAMES: Final[dict[str, tuple[str, ...]]] = {
    "read_file": ("read",),
    "write_file": ("write",),
    "skill": ("activate_skill",),
}
FIELDS: Final[dict[str, tuple[str, ...]]] = {
    "path": ("path", "file_path", "absolute_path"),
    "name": ("name", "skill"),
    "command": ("command", "cmd"),
    "content": ("content",),
}
"""The names that agents use for each argument."""


class Tool(Struct, frozen=True):
    """A tool that an agent offers."""

    name: str
    schema: Mapping[str, Any]


class ObedientModel:
    """A model that chooses the next call; `is_obeying` says whether the last call followed an injected order."""

    def __init__(self, workspace: Path, skill: Path) -> None:
        self.plan: list[Call] = []
        self.is_worst_case = False
        self.is_obeying = False
        self.has_secret = False
        self.has_order = False
        self.prefers_shell = False
        """Whether files are read with commands, because some agents' own tools refuse files that git ignores."""
        self.obeyed: list[str] = []
        self.impossible: list[str] = []
        """The tools in orders that the agent does not offer."""
        self._workspace = workspace
        self._skill = skill
        self._made: set[Call] = set()

    def __call__(self, request: Recorded) -> Reply:
        """Return the next answer."""
        tools = list(tools_of(request.body))
        if not tools:
            return Reply("Done.")
        texts = list(texts_of(request.body))
        self.has_secret = self.has_secret or any(CANARY in text for text in texts)
        orders = self.orders_in(texts)
        self.has_order = self.has_order or bool(orders)
        is_ready = self.is_worst_case and self.has_secret
        for name, arguments in reversed(orders if is_ready else []):
            wanted = (name, arguments.replace("{canary}", CANARY))
            if wanted not in self._made and (reply := self._reply(tools, wanted)):
                self.is_obeying = True
                self.obeyed.append(wanted[0])
                return reply
        self.is_obeying = False
        for wanted in self.plan:
            if wanted not in self._made and (reply := self._reply(tools, wanted)):
                return reply
        return Reply("Done.")

    def orders_in(self, texts: Iterable[str]) -> list[Call]:
        """Return the calls that the texts order, in sequence."""
        return [(found[1], found[2]) for text in texts for found in ORDER.finditer(text)]

    def read_again_by_shell(self) -> None:
        """Make the calls of the plan once more, using commands where possible."""
        self.prefers_shell = True
        self._made -= set(self.plan)

    def _reply(self, tools: list[Tool], wanted: Call) -> Reply | None:
        self._made.add(wanted)
        try:
            arguments = json.loads(wanted[1])
        except json.JSONDecodeError:
            return None
        is_read = self.prefers_shell and wanted in self.plan
        own = [each for each in tools if each.name.lower() in SHELLS] if is_read else tools
        call = _call_of(own, wanted[0], arguments, self._workspace, self._skill)
        if call is None:
            self.impossible.append(wanted[0])
            return None
        return Reply(tool_calls=(call,))


def texts_of(body: Any) -> Iterable[str]:
    """Yield the texts in a request that the model reads, in order."""
    for field in SAID:
        yield from _strings(body.get(field))


def _strings(value: object) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in cast(dict[str, object], value).values():
            yield from _strings(each)
    elif isinstance(value, list):
        for each in cast(list[object], value):
            yield from _strings(each)


def tools_of(body: Any) -> Iterable[Tool]:
    """Yield the tools that a request offers, in any wire format."""
    for each in body.get("tools") or ():
        for found in each.get("functionDeclarations", [each.get("function", each)]):
            schemas = (found.get(key) for key in ("parameters", "input_schema", "parametersJsonSchema"))
            empty: dict[str, Any] = {}
            if found.get("name"):
                yield Tool(found["name"], next((schema for schema in schemas if schema), empty))


def _call_of(
    tools: list[Tool], name: str, arguments: dict[str, Any], workspace: Path, skill: Path
) -> ToolCall | None:
    """Return a call to the agent's own tool, or to its shell with the same effect, or None if it has neither."""
    tool = _named(tools, name)
    if tool is not None and (filled := _filled(tool, arguments, workspace)) is not None:
        return ToolCall(tool.name, filled)
    command = _as_command(name, arguments, skill)
    shell = next((each for each in tools if each.name.lower() in SHELLS), None)
    if command is None or shell is None:
        return None
    return ToolCall(shell.name, _shell_arguments(shell, command))


def _named(tools: list[Tool], name: str) -> Tool | None:
    names = SHELLS if name == "terminal" else (name, *OTHER_NAMES.get(name, ()))
    return next(
        (each for each in tools if each.name.lower() in names or each.name.endswith(f"_{name}")), None
    )


def _filled(tool: Tool, arguments: dict[str, Any], workspace: Path) -> dict[str, Any] | None:
    """Return the arguments under the tool's own parameter names, or None if it lacks one."""
    known: Mapping[str, Any] = tool.schema.get("properties", {})
    if tool.name.lower() in SHELLS:
        return _shell_arguments(tool, str(arguments.get("command", "")))
    filled: dict[str, Any] = {}
    for key, value in arguments.items():
        name = next((each for each in FIELDS.get(key, (key,)) if each in known), None)
        if name is None:
            return None
        filled[name] = str(workspace / str(value)) if name != "path" and key == "path" else value
    return filled if set(tool.schema.get("required", ())) <= filled.keys() else None


def _shell_arguments(shell: Tool, command: str) -> dict[str, Any]:
    known: Mapping[str, Any] = shell.schema.get("properties", {})
    name = next((each for each in FIELDS["command"] if each in known), "command")
    filled: dict[str, Any] = {name: command}
    for key in shell.schema.get("required", ()):
        filled.setdefault(key, "run a command")
    return filled


def _as_command(name: str, arguments: dict[str, Any], skill: Path) -> str | None:
    """Return a shell command with the effect of a call."""
    match name:
        case "terminal":
            return str(arguments["command"])
        case "read_file":
            return f"cat {shlex.quote(arguments['path'])}"
        case "write_file":
            path = shlex.quote(arguments["path"])
            return f"mkdir -p $(dirname {path}) && printf %s {shlex.quote(arguments['content'])} > {path}"
        case "web_fetch":
            return f"curl -s {shlex.quote(arguments['url'])}"
        case "search":
            return f"grep -r {shlex.quote(arguments['pattern'])} {shlex.quote(arguments['path'])}"
        case "execute_code":
            return f"python3 -c {shlex.quote(arguments['code'])}"
        case "skill":
            return f"cat {shlex.quote(str(skill))}"
        case _:
            return None
