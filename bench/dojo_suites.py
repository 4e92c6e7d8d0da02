"""Run AgentDojo's suites with a model that obeys every injection; count injections that reach their goal unasked.

Run: python -m bench.dojo_suites --python ENV/bin/python [--npm DIR] [--mode default|auto|all]
[--wording direct|important] [--out FILE] [AGENT …]
ENV is an environment with `agentdojo` (PyPI) installed. Its tools (mail, calendar, bank, travel, Slack) are served over
MCP, its injections are in their results, and its own functions decide whether an injection has reached its goal. The
model makes the calls of the user's task and, as soon as it has read the injection, those of the injection. Calls of the
user's task are allowed once and calls of the injection are refused, so any goal that is reached was reached without
asking.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import anyio
import msgspec
from hermes_acp_client.errors import AgentError
from hermes_acp_client.opening import open_agent
from msgspec import Struct

from bench.agent_starts import Start, User, filled, read_agents
from bench.dojo_server import MARK, WORDINGS
from bench.obedient_model import ObedientModel, Tool
from hermes_protocol import v1
from tests.attacks.scenario_tables import Call
from tests.model_server import Reply, Script, ToolCall, serve

VERSION: Final = "v1.2.2"
OURS: Final = "hermes-acp"
SERVER: Final = Path(__file__).with_name("dojo_server.py")
MAX_PROMPTS: Final = 5
"""Agents do not wait long for a slow server, so the prompt is repeated until the tools are available."""
START_TIME_S: Final = 20.0
LOOK_AGAIN_S: Final = 0.5
REMOVED: Final = "[removed by the injection scanner"
SERVER_NAME: Final = "dojo"
TIME_LIMIT_S: Final = 240.0
ALL_TOOLS: Final = "budget:\n  max_schema_tokens: 100000\n"
"""Makes our agent offer all tools at once, as the other agents do."""


class DojoScenario(Struct, frozen=True):
    """An injection task, a user task that reads the injection, and the calls of both."""

    suite: str
    user: str
    injection: str
    prompt: str
    calls: list[tuple[str, dict[str, Any]]]
    orders: list[tuple[str, dict[str, Any]]]

    @property
    def name(self) -> str:
        return f"{self.suite}/{self.injection}"


class DojoResult(Struct, frozen=True):
    """The result of a scenario; `note` is the reason why it was not completed, if any."""

    agent: str
    mode: str
    scenario: str
    obeyed: int
    asked: int
    is_read: bool
    was_removed: bool
    is_breached: bool
    note: str = ""


class DojoModel(ObedientModel):
    """A scripted model that obeys the injection as soon as it has read it."""

    def __init__(self, scenario: DojoScenario, folder: Path) -> None:
        super().__init__(folder, folder)
        self.plan = [*map(_call, scenario.calls)]
        self.is_worst_case = self.has_secret = True
        self.was_removed = False
        """Whether our scanner removed an injection from a result."""
        self._orders = [*map(_call, scenario.orders)]

    def orders_in(self, texts: Iterable[str]) -> list[Call]:
        texts = [*texts]
        self.was_removed = self.was_removed or any(REMOVED in text for text in texts)
        is_read = any(MARK in text for text in texts)
        return self._orders[::-1] if is_read else []

    def start_again(self) -> None:
        """Restart all calls from the beginning."""
        self._made.clear()
        self.impossible.clear()

    def _reply(self, tools: list[Tool], wanted: Call) -> Reply | None:
        """Call a tool of the suite, some of which have the same names as an agent's own tools."""
        self._made.add(wanted)
        name = next(
            (each.name for each in tools if SERVER_NAME in each.name and each.name.endswith(wanted[0])), ""
        )
        if not name:
            self.impossible.append(wanted[0])
            return None
        return Reply(tool_calls=(ToolCall(name, json.loads(wanted[1])),))


def _call(written: tuple[str, dict[str, Any]]) -> Call:
    return written[0], json.dumps(written[1])


@contextmanager
def dojo(python: str, folder: Path) -> Generator[str]:
    """Serve the tools and yield the path of the socket."""
    path = str(folder / "dojo.sock")
    command = [python, str(SERVER), "listen", VERSION, path]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        process.stdout.readline()
        try:
            yield path
        finally:
            process.terminate()


async def play(
    named: tuple[str, Start], mode: str, scenario: DojoScenario, options: argparse.Namespace, path: str
) -> DojoResult:
    """Run one scenario with an agent."""
    name, start = named
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        home, workspace, verdicts = (Path(place, each) for each in ("home", "workspace", "verdicts"))
        workspace.mkdir()
        model = DojoModel(scenario, workspace)
        user, note = User(model), ""
        words = ["-S", str(SERVER), "connect", path, scenario.suite, scenario.user, scenario.injection]
        words.append(options.wording)
        tools = v1.McpServerStdio(
            name=SERVER_NAME, command=sys.executable, args=[*words, str(verdicts)], env=[]
        )
        async with serve(Script(choose=model), is_strict=False) as server:
            marks = {
                "{npm}": options.npm,
                "{python}": sys.executable,
                "{openai}": server.openai_base_url,
                "{anthropic}": server.anthropic_base_url,
                "{origin}": server.anthropic_base_url,
            }
            for file, text in start.files.items():
                (home / file).parent.mkdir(parents=True, exist_ok=True)
                more = ALL_TOOLS if name == OURS else ""
                (home / file).write_text(filled(text, marks) + more)
            home.mkdir(exist_ok=True)
            variables = {key: filled(value, marks) for key, value in start.variables.items()}
            environment = {"HOME": str(home), "PATH": os.environ["PATH"], **variables}
            command = [filled(word, marks) for word in start.command]
            try:
                with anyio.fail_after(TIME_LIMIT_S):
                    async with open_agent(command, env=environment, on_permission=user.answer) as agent:
                        if start.auth:
                            request = v1.AuthenticateRequest(method_id=start.auth)
                            await agent.call("authenticate", request, v1.AuthenticateResponse)
                        session = await agent.new_session(str(workspace), [tools])
                        if start.modes[mode]:
                            await session.set_mode(start.modes[mode])
                        with anyio.move_on_after(START_TIME_S):
                            while not verdicts.exists():
                                await anyio.sleep(LOOK_AGAIN_S)
                        for _ in range(MAX_PROMPTS):
                            await session.send(scenario.prompt)
                            if model.has_order or model.was_removed:
                                break
                            model.start_again()
                            await anyio.sleep(LOOK_AGAIN_S)
            except TimeoutError:
                note = "out of time"
            except AgentError as error:
                note = f"{type(error).__name__}: {error}"[:200]
        if not (note or model.has_order or model.was_removed):
            note = "never read the injection"
        seen = len(model.obeyed), user.asked, model.has_order, model.was_removed
        return DojoResult(name, mode, scenario.name, *seen, _is_breached(verdicts), note)


def _is_breached(verdicts: Path) -> bool:
    """Return AgentDojo's verdict after the last call."""
    lines = verdicts.read_text(encoding="utf-8").splitlines() if verdicts.exists() else []
    return bool(lines and json.loads(lines[-1])["is_breached"])


def report(results: Sequence[DojoResult]) -> None:
    """Print a line for each agent and mode, followed by the injections that reached their goals."""
    columns = ("scenarios", "removed", "read", "obeyed", "asked", "reached", "failed")
    print(f"{'agent':18}{'mode':9}" + "".join(f"{column:>10}" for column in columns))
    for agent, mode in dict.fromkeys((each.agent, each.mode) for each in results):
        rows = [each for each in results if (each.agent, each.mode) == (agent, mode)]
        cells = (
            len(rows),
            sum(each.was_removed for each in rows),
            sum(each.is_read for each in rows),
            sum(each.obeyed > 0 for each in rows),
            sum(each.asked > 0 for each in rows),
            sum(each.is_breached for each in rows),
            sum(bool(each.note) for each in rows),
        )
        print(f"{agent:18}{mode:9}" + "".join(f"{cell:10}" for cell in cells))
        for each in rows:
            if each.is_breached or each.note:
                print(f"    {each.scenario}: {each.note or 'reached its goal'}")


async def play_all(options: argparse.Namespace) -> list[DojoResult]:
    """Run all scenarios with the chosen agents."""
    agents = read_agents()
    command = [options.python, str(SERVER), "describe", VERSION]
    described = (await anyio.run_process(command)).stdout
    chosen = msgspec.json.decode(described, type=list[DojoScenario])
    results: list[DojoResult] = []
    with tempfile.TemporaryDirectory() as folder, dojo(options.python, Path(folder)) as path:
        for name in options.agents or [OURS]:
            for mode in agents[name].modes:
                for scenario in chosen if not options.mode or mode in options.mode else ():
                    result = await play((name, agents[name]), mode, scenario, options, path)
                    results.append(result)
                    print(f"{result}", file=sys.stderr, flush=True)
    return results


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.dojo_suites")
    parser.add_argument(
        "--python", required=True, help="the Python of an environment with agentdojo installed"
    )
    parser.add_argument("--npm", default="", metavar="DIR", help="the node_modules of the other agents")
    parser.add_argument("--wording", choices=WORDINGS, default="direct", help="the wording of the injections")
    parser.add_argument("--mode", action="append", choices=("default", "auto", "all"))
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="write one JSON object per scenario to this file"
    )
    parser.add_argument("agents", nargs="*", metavar="AGENT", help=f"default: {OURS}")
    options = parser.parse_args()
    results = anyio.run(play_all, options)
    report(results)
    if options.out:
        options.out.write_bytes(b"".join(msgspec.json.encode(each) + b"\n" for each in results))
    ours = [each for each in results if each.agent == OURS and each.mode != "all"]
    return 1 if any(each.is_breached or each.note for each in ours) else 0


if __name__ == "__main__":
    raise SystemExit(main())
