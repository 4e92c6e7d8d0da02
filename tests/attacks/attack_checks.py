"""Check what must hold after every attack: the agent is alive, answers, and has written only valid frames.

It has revealed nothing and left nothing behind. The canary must not occur in anything that the agent wrote to its
editor, its model or its home folder, and its file must not have been read or written. Processes are found by a
variable that every child inherits.
"""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final, cast

import anyio

from tests.e2e.agent_process import COMMAND, agent_environment, wait_for_end, watch_process
from tests.e2e.raw_editor import Answer, Message, RawEditor, editor, outcome_text, permit
from tests.model_server import ModelServer, Recorded, Reply, Script, ToolCall, serve

MAX_RSS_BYTES: Final = 500 << 20
MARK: Final = "SIEGE"
MOMENT_S: Final = 60
STILL_THERE: Final = "Are you still there?"
STILL_HERE: Final = Reply("Still here.")
NOTE: Final = "["
ALLOW: Final[Mapping[str, Answer]] = {"session/request_permission": permit("allow_once")}
AT_ONCE: Final = "retry:\n  first_wait_s: 0.01\n  longest_wait_s: 0.02\n  rest_s: 0.1\n"
"""Settings with which a failed call is retried almost at once."""
SLOW_STEP = re.compile(r"Executing <.*> took \d+\.\d+ seconds")


class Part:
    """The model's replies: one per step to prompts that contain certain words; to all others, a fixed sentence."""

    def __init__(self) -> None:
        self._lines: dict[str, tuple[Reply, ...]] = {}

    def learn(self, words: str, *replies: Reply) -> None:
        """Use these replies for every prompt with these words; after the last, the model only says that it is done."""
        self._lines[words] = replies

    def choose(self, request: Recorded) -> Reply:
        """Return the reply for the requested step; the program's own notes follow the user's words."""
        messages = cast("list[dict[str, object]]", request.body["messages"])
        for at in (at for at, each in reversed([*enumerate(messages)]) if each["role"] == "user"):
            text = _text_of(messages[at])
            step = sum(each["role"] == "assistant" for each in messages[at:])
            for words, replies in self._lines.items():
                if words in text:
                    return replies[step] if step < len(replies) else Reply("Done.")
            if STILL_THERE in text or not text.startswith(NOTE):
                break
        return STILL_HERE


def _text_of(message: dict[str, object]) -> str:
    """Return the text of a message, whether it is one string or in parts."""
    content = message["content"]
    if isinstance(content, str):
        return content
    return "".join(str(part.get("text", "")) for part in cast("list[dict[str, object]]", content))


class Canary:
    """A secret in a file that nothing may access."""

    def __init__(self, folder: Path) -> None:
        self.token = f"canary-{os.urandom(12).hex()}"
        self.path = folder / "secrets" / "canary.txt"
        self.path.parent.mkdir(parents=True)
        self.path.write_text(self.token)
        # With the mount option relatime, the first read updates an access time that is older than the last change.
        os.utime(self.path, ns=(1_000_000_000, 2_000_000_000))

    def check(self, written: bytes, folders: Sequence[Path] = ()) -> None:
        """Fail if the canary was read or changed, or appears in what was written."""
        about = self.path.stat()
        assert (about.st_atime_ns, about.st_mtime_ns) == (1_000_000_000, 2_000_000_000), (
            "the canary was touched"
        )
        wanted = self.token.encode()
        assert wanted not in written, "the canary left over the wire"
        files = [file for folder in folders for file in folder.rglob("*") if file.is_file()]
        assert [file for file in files if wanted in file.read_bytes()] == []
        assert self.path.read_text() == self.token


class AttackedAgent:
    """One agent under attack."""

    def __init__(
        self, agent: RawEditor, server: ModelServer, part: Part, folder: Path, variables: Mapping[str, str]
    ) -> None:
        self.agent = agent
        self.server = server
        self.model = part
        self.workspace = folder / "workspace"
        self.home = folder
        self.canary = folder / "secrets" / "canary.txt"
        self._variables = variables
        self.is_dead = False
        """Set this if the attack ends with the agent killed: then it need not be alive."""
        self._asked = 0

    @asynccontextmanager
    async def another(self) -> AsyncGenerator[RawEditor]:
        """Start a second agent in the same home; it too must exit normally."""
        async with editor(self._variables, self.home / "scratch", answers=ALLOW) as agent:
            yield agent
            assert await agent.leave() == 0
            assert heard(agent.errors) == ""
        check_wire(agent.messages)

    async def turn(self, *replies: Reply, session_id: str = "") -> list[Message]:
        """Have the model give these replies in one turn; return the updates that ended its calls, in order."""
        session_id = session_id or await self.agent.open_session(self.workspace)
        self._asked += 1
        words = f"attack number {self._asked}."
        self.model.learn(words, *replies)
        before = len(self.agent.updates(session_id=session_id))
        reply = await self.agent.prompt(session_id, words)
        assert reply.get("result", {}).get("stopReason") == "end_turn", reply
        # The review after a turn of many calls may be shown before this continues.
        return ends_of(self.agent.updates(session_id=session_id, until=reply)[before:])

    async def call(self, name: str, arguments: dict[str, Any] | str, session_id: str = "") -> Message:
        """Have the model make one call; return the update that ended it."""
        (end,) = await self.turn(Reply(tool_calls=(ToolCall(name, arguments),)), session_id=session_id)
        return end

    async def check_prompt(self, session_id: str = "") -> None:
        """Fail unless the next prompt is answered, in this session or in a new one."""
        session_id = session_id or await self.agent.open_session(self.workspace)
        said = self.agent.said(session_id)
        reply = await self.agent.prompt(session_id, STILL_THERE)
        assert reply.get("result", {}).get("stopReason") == "end_turn", reply
        assert self.agent.said(session_id) == f"{said}Still here."


def heard(errors: str) -> str:
    """Return what an agent wrote to standard error, without asyncio's reports of slow steps in Python's dev mode."""
    return "\n".join(line for line in errors.splitlines() if not SLOW_STEP.fullmatch(line))


def ends_of(updates: Sequence[Message]) -> list[Message]:
    """Return the updates that ended calls, in the order of the calls, which may end in any order."""
    ends = {
        update["toolCallId"]: update
        for update in updates
        if update["sessionUpdate"] == "tool_call_update" and update.get("status") in ("completed", "failed")
    }
    shown = [update["toolCallId"] for update in updates if update["sessionUpdate"] == "tool_call"]
    return [ends[call_id] for call_id in shown if call_id in ends]


def result_of(end: Message) -> str:
    """Return what the model was told about a call, and how it ended."""
    return f"{end['status']}: {outcome_text(end)}"


def check_wire(messages: Sequence[Message]) -> None:
    """Fail unless a message is a request, a notification or a reply in JSON-RPC 2.0."""
    for message in messages:
        members = message.keys() - {"jsonrpc", "id"}
        if "method" in message:
            assert members <= {"method", "params"}, message
        else:
            assert members in ({"result"}, {"error"}), message
            assert "id" in message, message
        assert "Traceback (most recent call last)" not in json.dumps(message), message


def peak_rss_bytes(pid: int) -> int:
    """Return the peak memory of a live process."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) << 10
    raise AssertionError(f"/proc/{pid}/status says nothing of its peak")


def open_descriptors(pid: int) -> int:
    """Count a process's open descriptors."""
    return len(os.listdir(f"/proc/{pid}/fd"))


def children_of(pid: int) -> list[int]:
    """Return the live children of a process, including those it adopted."""
    found: list[int] = []
    with suppress(FileNotFoundError):  # The process or one of its threads has just ended.
        for thread in list(Path(f"/proc/{pid}/task").iterdir()):
            with suppress(FileNotFoundError, ProcessLookupError):
                found += map(int, (thread / "children").read_text().split())
    return found


def marked_processes(mark: str) -> list[int]:
    """Return the live processes started below the agent with this mark, including the agent itself."""
    wanted = f"{MARK}={mark}".encode()
    found: list[int] = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                variables = Path(f"/proc/{name}/environ").read_bytes().split(b"\0")
            except OSError:
                continue
            if wanted in variables:
                found.append(int(name))
    return found


async def check_nobody_survived(mark: str) -> None:
    """Fail if a process of the agent outlives it by more than a moment."""
    with anyio.move_on_after(MOMENT_S):
        while marked_processes(mark):
            await anyio.sleep(0.05)
    assert [(pid, Path(f"/proc/{pid}/cmdline").read_bytes()) for pid in marked_processes(mark)] == []


@asynccontextmanager
async def attacked_agent(
    folder: Path,
    *,
    answers: Mapping[str, Answer] = ALLOW,
    greeting: object = None,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
    settings: str = "",
    command: Sequence[str] = (COMMAND,),
) -> AsyncGenerator[AttackedAgent]:
    """Yield an agent to attack, with its home and workspace below `folder`; then check everything that must hold.

    `environment` is added to the agent's. `settings` are its config.yaml, which also needs a model.
    """
    canary, part, mark = Canary(folder), Part(), os.urandom(8).hex()
    (folder / "workspace").mkdir(exist_ok=True)
    hermes_home = folder / ".hermes"
    if settings:
        hermes_home.mkdir(exist_ok=True)
        (hermes_home / "config.yaml").write_text(settings)
    async with serve(Script(choose=part.choose)) as server:
        variables = agent_environment(folder, server, **{MARK: mark}, **(environment or {}))
        greeting = greeting or {"protocolVersion": 1, "clientCapabilities": {}}
        scratch = folder / "scratch"
        async with editor(
            variables, scratch, answers=answers, greeting=greeting, cwd=cwd, command=command
        ) as agent:
            siege = AttackedAgent(agent, server, part, folder, variables)
            yield siege
            left: list[int] = []
            if agent.process.returncode is None:
                await siege.check_prompt()
                assert peak_rss_bytes(agent.process.pid) < MAX_RSS_BYTES
                for child in children_of(agent.process.pid):
                    with suppress(ProcessLookupError):  # It has just ended.
                        left.append(watch_process(child))
            code = await agent.leave()
            assert code == -signal.SIGKILL if siege.is_dead else code == 0
            assert heard(agent.errors) == ""
        for each in left:
            await wait_for_end(each, bound_s=MOMENT_S)
        await check_nobody_survived(mark)
        check_wire(agent.messages)
        asked = [json.dumps(request.body) for request in (*server.requests, *server.other_requests)]
        written = [json.dumps(message) for message in agent.messages]
        canary.check("\n".join((*written, *asked)).encode(), [hermes_home])
