"""Run evaluation tasks in fresh folders, with any ACP agent and fixed answers to its questions."""

import math
import os
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

import anyio
import msgspec
from hermes_acp_client.asking import Chosen, option_named
from hermes_acp_client.errors import AgentError
from hermes_acp_client.opening import open_agent
from msgspec import Struct

from hermes_protocol import v1
from tests.model_server.requests import Recorded
from tests.model_server.script import Reply, ToolCall

Policy = Literal["own", "allow"]
POLICIES: Final[tuple[Policy, ...]] = ("own", "allow")
SHELLS: Final = ("terminal", "bash", "shell", "exec_command", "run_shell_command", "execute")
"""The names of agents' command tools, with which the scripted model solves a task."""
Z: Final = 1.96


class Task(Struct, frozen=True):
    """A task: the files of its folder, the prompt, and a Python program that fails unless the task is done."""

    prompt: str
    check: str
    files: dict[str, str]
    solution: str = ""
    name: str = ""

    @property
    def mark(self) -> str:
        """Return the text that the scripted model adds to its command, in order to recognise its own call."""
        return f"# solves {self.name}"


class AgentStart(Struct, frozen=True):
    """How to start an agent.

    This is its command, its variables, its sign-in method (if any), its mode (if not the default), and the contents
    of files in its home folder.
    """

    command: tuple[str, ...]
    environment: dict[str, str]
    auth: str = ""
    mode: str = ""
    files: dict[str, str] = {}


class Row(Struct, frozen=True):
    """The result of one task; values that the agent did not report are null."""

    task: str
    policy: Policy
    passed: bool
    reason: str
    questions: int
    tokens: int | None
    first_tokens: int | None
    cost_usd: float | None
    seconds: float

    def without_time(self) -> "Row":
        """Return the row without times, which is equal in any two runs with a scripted model."""
        return msgspec.structs.replace(self, seconds=0.0)


class Budget(Struct, frozen=True):
    """The limits for one task, equal for every agent."""

    timeout_s: float = 300.0
    context_tokens: int | None = None


def read_tasks(folder: Path) -> list[Task]:
    """Return the tasks in a folder, by name."""
    found = [
        msgspec.convert({**tomllib.loads(path.read_text(encoding="utf-8")), "name": path.stem}, Task)
        for path in sorted(folder.glob("*.toml"))
    ]
    if not found:
        raise SystemExit(f"There are no tasks (*.toml) in {folder}.")
    return found


def wilson(passed: int, number: int) -> tuple[float, float]:
    """Return the 95 % confidence interval of a rate (Wilson score interval)."""
    if not number:
        return 0.0, 1.0
    rate, z2 = passed / number, Z * Z
    middle = (rate + z2 / (2 * number)) / (1 + z2 / number)
    half = Z * math.sqrt(rate * (1 - rate) / number + z2 / (4 * number * number)) / (1 + z2 / number)
    return max(0.0, middle - half), min(1.0, middle + half)


async def run_task(start: AgentStart, task: Task, policy: Policy, budget: Budget) -> Row:
    """Run an agent on a task. With `own`, every permission request is refused; with `allow`, it is approved."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        workspace = Path(folder, "workspace")
        for name, text in task.files.items():
            path = workspace / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        home = Path(folder, "home")
        home.mkdir()
        for name, text in start.files.items():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text(text, encoding="utf-8")
        meter = _Meter(policy, budget)
        begun = time.perf_counter()
        reason = await _drive(start, {**start.environment, "HOME": str(home)}, task, workspace, meter)
        seconds = time.perf_counter() - begun
        return Row(
            task.name,
            policy,
            is_done(task, workspace),
            reason,
            meter.questions,
            meter.tokens,
            meter.first_tokens,
            meter.cost_usd,
            round(seconds, 3),
        )


class _Meter:
    """Answers an agent's questions and adds up its usage."""

    def __init__(self, policy: Policy, budget: Budget) -> None:
        self.budget = budget
        self.questions = 0
        self.tokens: int | None = None
        self.first_tokens: int | None = None
        self.cost_usd: float | None = None
        self._context = 0
        self._kind = "allow_once" if policy == "allow" else "reject_once"

    async def answer(self, request: v1.RequestPermissionRequest) -> Chosen:
        self.questions += 1
        return option_named(request, self._kind)

    def note(self, update: v1.SessionUpdate) -> bool:
        """Record the usage reported in an update; return whether the budget is exhausted."""
        if isinstance(update, v1.UsageUpdate):
            if self.first_tokens is None and update.used:
                self.first_tokens = update.used
            self._context = max(self._context, update.used)
            if isinstance(update.cost, v1.Cost) and update.cost.currency == "USD":
                self.cost_usd = update.cost.amount
        return self.budget.context_tokens is not None and self._context > self.budget.context_tokens


async def _drive(
    start: AgentStart, environment: Mapping[str, str], task: Task, workspace: Path, meter: _Meter
) -> str:
    """Run the agent on the prompt and return why it stopped."""
    try:
        with anyio.fail_after(meter.budget.timeout_s):
            async with open_agent(start.command, env=environment, on_permission=meter.answer) as agent:
                if start.auth:
                    request = v1.AuthenticateRequest(method_id=start.auth)
                    await agent.call("authenticate", request, v1.AuthenticateResponse)
                session = await agent.new_session(str(workspace))
                if start.mode:
                    await session.set_mode(start.mode)
                async with session.prompt(task.prompt) as turn:
                    async for update in turn:
                        if meter.note(update):
                            return "out_of_tokens"
                meter.tokens = turn.usage.total_tokens if turn.usage else None
                return str(turn.stop_reason)
    except TimeoutError:
        return "out_of_time"
    except AgentError as error:
        return type(error).__name__


def is_done(task: Task, workspace: Path) -> bool:
    """Run a task's check, which the agent never saw, in the task's folder."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", f"import sys; sys.path.insert(0, '')\n{task.check}"],
            cwd=workspace,
            capture_output=True,
            timeout=60,
            env={"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"},
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


class ScriptedSolver:
    """A model that runs the known solution of a task through the agent's command tool."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        self._tasks = tasks

    def __call__(self, request: Recorded) -> Reply:
        """Return the model's next answer."""
        text = msgspec.json.encode(request.body).decode()
        task = next((each for each in self._tasks if each.prompt in text), None)
        shell = _shell_of(request.body)
        if task is None or shell is None or task.mark in text:
            return Reply("Done.")
        name, parameters = shell
        return Reply(tool_calls=(ToolCall(name, _arguments(parameters, f"{task.solution} {task.mark}")),))


def _shell_of(body: Any) -> tuple[str, dict[str, Any]] | None:
    """Return the name and parameters of the command tool from a request in any vendor's format."""
    for described in _tools_in(body):
        if str(described.get("name")).lower() in SHELLS:
            schemas = (described.get(key) for key in ("parameters", "input_schema", "parametersJsonSchema"))
            empty: dict[str, Any] = {}
            return described["name"], next((schema for schema in schemas if schema), empty)
    return None


def _tools_in(body: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for each in body.get("tools") or ():
        found += each.get("functionDeclarations", [each.get("function", each)])
    return found


def _arguments(schema: Mapping[str, Any], command: str) -> dict[str, Any]:
    """Return the arguments for running a command, under the tool's own parameter names."""
    properties: Mapping[str, Any] = schema.get("properties", {})
    named = next((name for name in ("command", "cmd", "script") if name in properties), "command")
    is_list = properties.get(named, {}).get("type") == "array"
    wanted: dict[str, Any] = {named: ["bash", "-lc", command] if is_list else command}
    more = {name: name for name in schema.get("required", ()) if name not in wanted}
    return wanted | more
