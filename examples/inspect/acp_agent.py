"""Evaluate any ACP agent with inspect-ai, with the same tasks, answers to questions and budget for each agent.

    pip install inspect-ai ./protocol
    inspect eval examples/inspect/acp_agent.py --model none -T agent=hermes-acp -T policy=allow

`acp_agent` can also be used as a solver for your own datasets; it works in a new folder with the sample's files.
"""

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal

import anyio
import msgspec
from anyio.to_thread import run_sync
from hermes_acp_client.asking import Chosen, option_named
from hermes_acp_client.errors import AgentError
from hermes_acp_client.opening import open_agent
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageAssistant, ChatMessageTool, ModelOutput, ModelUsage
from inspect_ai.scorer import Score, Scorer, Target, accuracy, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import ToolCall
from inspect_ai.util import StoreModel, store_as
from pydantic import Field

from hermes_protocol import v1

Policy = Literal["own", "allow"]
TASKS: Final = Path(__file__).resolve().parents[2] / "bench" / "evaluation_tasks"
CHECK_TIMEOUT_S: Final = 60


class AgentRun(StoreModel):
    """An agent's work on a sample; values that it did not report are None."""

    folder: str = Field(default="")
    reason: str = Field(default="")
    questions: int = Field(default=0)
    tokens: int | None = Field(default=None)
    first_tokens: int | None = Field(default=None)
    cost_usd: float | None = Field(default=None)
    seconds: float = Field(default=0.0)

    @property
    def workspace(self) -> Path:
        """The folder that the agent works in."""
        return Path(self.folder, "workspace")


@task
def acp_tasks(
    agent: str = "hermes-acp",
    policy: Policy = "own",
    tasks: str = str(TASKS),
    timeout_s: float = 300.0,
    max_context: int | None = None,
    mode: str = "",
    auth: str = "",
) -> Task:
    """Return the tasks in a folder: TOML files with `prompt`, `files` and `check`, which the agent never sees.

    The other parameters are those of `acp_agent`.
    """
    return Task(
        dataset=MemoryDataset([*read_samples(Path(tasks))], name="acp_tasks"),
        solver=acp_agent(agent, policy, timeout_s, max_context, mode, auth),
        scorer=passes_check(),
        cleanup=remove_folder,
    )


def read_samples(folder: Path) -> Iterator[Sample]:
    """Yield a sample for each task in a folder, sorted by name. Raises ValueError if there is none."""
    paths = sorted(folder.glob("*.toml"))
    if not paths:
        raise ValueError(f"There are no tasks (*.toml) in {folder}.")
    for path in paths:
        written = tomllib.loads(path.read_text(encoding="utf-8"))
        metadata = {"files": written.get("files", {}), "check": written["check"]}
        yield Sample(input=written["prompt"], id=path.stem, metadata=metadata)


@solver
def acp_agent(
    agent: str,
    policy: Policy = "own",
    timeout_s: float = 300.0,
    max_context: int | None = None,
    mode: str = "",
    auth: str = "",
) -> Solver:
    """Run the agent that a command starts on a sample.

    Every question is answered with no (`own`) or with yes (`allow`). The agent is stopped after `timeout_s` seconds or
    when its context exceeds `max_context` tokens. `mode` and `auth` are the agent's own names; without a `mode`, the
    agent uses its default one, in which some agents never ask.
    """
    command = shlex.split(agent)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        run = store_as(AgentRun)
        run.folder = tempfile.mkdtemp(prefix="acp-agent-")
        files: Mapping[str, str] = state.metadata.get("files", {})
        _write_files(run.workspace, files)
        conversation = _Conversation(state, run, policy, max_context, Path(command[0]).name)
        begun = time.perf_counter()
        try:
            with anyio.fail_after(timeout_s):
                run.reason = await conversation.hold(command, mode, auth)
        except TimeoutError:
            run.reason = "out_of_time"
        except AgentError as error:
            run.reason = f"{type(error).__name__}: {error}"
        run.seconds = round(time.perf_counter() - begun, 3)
        conversation.finish()
        return state

    return solve


class _Conversation:
    """Talks to an agent about a sample: answers its questions, and records its messages and usage."""

    def __init__(
        self, state: TaskState, run: AgentRun, policy: Policy, max_context: int | None, name: str
    ) -> None:
        self._state = state
        self._run = run
        self._kind = "allow_once" if policy == "allow" else "reject_once"
        self._max_context = max_context
        self._name = name
        self._words: list[str] = []
        self._calls: dict[str, v1.ToolCall] = {}

    async def hold(self, command: list[str], mode: str, auth: str) -> str:
        """Run the conversation and return why the agent stopped. Raises AgentError."""
        home = Path(self._run.folder, "home")
        home.mkdir()
        # Only the unstable protocol reports tokens in the answer to a prompt.
        environment = {**os.environ, "HERMES_ACP_UNSTABLE": "1", "HOME": str(home)}
        environment.pop("HERMES_HOME", None)
        async with open_agent(command, env=environment, on_permission=self._answer) as agent:
            if auth:
                request = v1.AuthenticateRequest(method_id=auth)
                await agent.call("authenticate", request, v1.AuthenticateResponse)
            session = await agent.new_session(str(self._run.workspace))
            if mode:
                await session.set_mode(mode)
            async with session.prompt(self._state.input_text) as turn:
                async for update in turn:
                    if self._note(update):
                        return "out_of_context"
            self._run.tokens = turn.usage.total_tokens if turn.usage else None
            return turn.stop_reason

    def finish(self) -> None:
        """Store the agent's last message as the output of the sample."""
        output = ModelOutput.from_content(self._name, self._take_words())
        if self._run.tokens is not None:
            output.usage = ModelUsage(total_tokens=self._run.tokens, total_cost=self._run.cost_usd)
        self._state.output = output
        self._state.messages.append(output.message)

    async def _answer(self, request: v1.RequestPermissionRequest) -> Chosen:
        self._run.questions += 1
        return option_named(request, self._kind)

    def _note(self, update: v1.SessionUpdate) -> bool:
        """Record an update; return whether the budget is used up."""
        match update:
            case v1.AgentMessageChunk(content=v1.TextContent(text=text)):
                self._words.append(text)
            case v1.ToolCall():
                self._calls[update.tool_call_id] = update
                self._state.messages.append(
                    ChatMessageAssistant(
                        content=self._take_words(), tool_calls=[_call_of(update)], model=self._name
                    )
                )
            case v1.SessionUpdateToolCallUpdate(status="completed" | "failed"):
                self._state.messages.append(
                    ChatMessageTool(content=_output_of(update), tool_call_id=update.tool_call_id)
                )
            case v1.UsageUpdate():
                self._run.first_tokens = self._run.first_tokens or update.used or None
                if isinstance(update.cost, v1.Cost) and update.cost.currency == "USD":
                    self._run.cost_usd = update.cost.amount
                return self._max_context is not None and update.used > self._max_context
            case _:
                pass
        return False

    def _take_words(self) -> str:
        words = "".join(self._words)
        self._words.clear()
        return words


def _call_of(update: v1.ToolCall) -> ToolCall:
    """Return a call in the form that inspect-ai displays."""
    try:
        arguments = msgspec.convert(msgspec.to_builtins(update.raw_input), dict[str, Any])
    except (msgspec.ValidationError, TypeError):
        arguments = {}
    return ToolCall(id=update.tool_call_id, function=update.title, arguments=arguments)


def _output_of(update: v1.SessionUpdateToolCallUpdate) -> str:
    """Return the text of a call's result."""
    parts = update.content if isinstance(update.content, list) else []
    texts = [
        part.content.text
        for part in parts
        if isinstance(part, v1.Content) and isinstance(part.content, v1.TextContent)
    ]
    return "\n".join(texts) or str(update.status)


@scorer(metrics={"passed": [accuracy(), stderr()], "questions": [mean()], "seconds": [mean()]})
def passes_check() -> Scorer:
    """Score a sample by its check, a Python program that runs in the agent's folder and fails unless it is done."""

    async def score(state: TaskState, target: Target) -> Score:
        run = store_as(AgentRun)
        passed = await run_sync(_passes, str(state.metadata["check"]), run.workspace)
        return Score(
            value={"passed": float(passed), "questions": run.questions, "seconds": run.seconds},
            answer=state.output.completion,
            explanation=run.reason,
            metadata=run.model_dump(exclude={"folder", "store", "instance"}),
        )

    return score


async def remove_folder(state: TaskState) -> None:
    """Remove the folder of a sample."""
    shutil.rmtree(store_as(AgentRun).folder, ignore_errors=True)


def _passes(check: str, workspace: Path) -> bool:
    try:
        done = subprocess.run(
            [sys.executable, "-c", f"import sys; sys.path.insert(0, '')\n{check}"],
            cwd=workspace,
            capture_output=True,
            timeout=CHECK_TIMEOUT_S,
            env={"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"},
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def _write_files(workspace: Path, files: Mapping[str, str]) -> None:
    workspace.mkdir(parents=True)
    for name, text in files.items():
        path = workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
