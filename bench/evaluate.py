"""Evaluate any ACP agent on a folder of tasks, once with its own policy and once with everything allowed.

Run: python -m bench.evaluate --agent CMD [--auth ID] [--mode ID] [--tasks DIR] [--policy own|allow] [--scripted]
Every agent gets the same tasks, the same answers to its questions, and the same budget. With `own`, every permission
request is refused, so only what the agent's own policy allows without asking is done. With `allow`, every request is
approved. The tasks need no network. `--scripted` replaces the model with a script, which makes runs reproducible and
shows the agent's own behaviour.
"""

import argparse
import os
import shlex
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import anyio
import msgspec

from bench.agent_starts import filled, read_agents
from bench.evaluation import (
    POLICIES,
    AgentStart,
    Budget,
    Policy,
    Row,
    ScriptedSolver,
    Task,
    read_tasks,
    run_task,
    wilson,
)
from tests.model_server import Script, serve

TASKS = Path(__file__).parent / "evaluation_tasks"


async def evaluate(
    start: AgentStart, tasks: Sequence[Task], policies: Sequence[Policy], budget: Budget
) -> list[Row]:
    """Run all tasks with each of the policies, one after another."""
    return [await run_task(start, task, policy, budget) for policy in policies for task in tasks]


async def evaluate_scripted(
    start: AgentStart,
    tasks: Sequence[Task],
    policies: Sequence[Policy],
    budget: Budget,
    npm: str = "node_modules",
) -> list[Row]:
    """Run all tasks with a scripted model that knows the solutions, in any vendor's wire format.

    If the command is a name in `agent_starts.toml`, the agent is started as specified there.
    """
    async with serve(Script(choose=ScriptedSolver(tasks))) as server:
        environment = {
            "PATH": os.environ["PATH"],
            "OPENAI_BASE_URL": server.openai_base_url,
            "OPENAI_API_KEY": "sk-test-openai",
            "ANTHROPIC_BASE_URL": server.anthropic_base_url,
            "ANTHROPIC_API_KEY": "sk-test-anthropic",
            "GOOGLE_GEMINI_BASE_URL": server.gemini_base_url,
            "GEMINI_API_KEY": "test-gemini",
            "HERMES_PROVIDER": "openai_compatible",
            "HERMES_MODEL": "scripted-large",
            **start.environment,
        }
        scripted = AgentStart(start.command, environment, start.auth, start.mode)
        if known := read_agents().get(start.command[0]):
            marks = {
                "{npm}": npm,
                "{python}": sys.executable,
                "{openai}": server.openai_base_url,
                "{anthropic}": server.anthropic_base_url,
                "{origin}": server.anthropic_base_url,
            }
            scripted = AgentStart(
                tuple(filled(word, marks) for word in known.command),
                environment | {name: filled(text, marks) for name, text in known.variables.items()},
                start.auth or known.auth,
                start.mode or known.modes["default"],
                {name: filled(text, marks) for name, text in known.files.items()},
            )
        return await evaluate(scripted, tasks, policies, budget)


def report(rows: Sequence[Row]) -> None:
    """Print one line for each policy."""
    columns = ("passed", "95 %", "questions", "tokens", "first", "cost", "seconds")
    print(f"{'policy':8}" + "".join(f"{column:>14}" for column in columns) + "  exit reasons")
    for policy in POLICIES:
        chosen = [row for row in rows if row.policy == policy]
        if not chosen:
            continue
        passed = sum(row.passed for row in chosen)
        low, high = wilson(passed, len(chosen))
        cells = (
            f"{passed}/{len(chosen)}",
            f"{low:.0%} to {high:.0%}",
            f"{sum(row.questions for row in chosen)}",
            _sum([row.tokens for row in chosen]),
            _sum([row.first_tokens for row in chosen], is_mean=True),
            _money([row.cost_usd for row in chosen]),
            f"{sum(row.seconds for row in chosen):.1f}",
        )
        reasons = ", ".join(
            f"{reason} {count}" for reason, count in sorted(Counter(row.reason for row in chosen).items())
        )
        print(f"{policy:8}" + "".join(f"{cell:>14}" for cell in cells) + f"  {reasons}")


def _sum(values: Sequence[int | None], *, is_mean: bool = False) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return "not reported"
    return f"{sum(known) // len(known) if is_mean else sum(known):,}"


def _money(values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    return f"${sum(known):,.4f}" if known else "not reported"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.evaluate")
    parser.add_argument("--agent", required=True, metavar="CMD", help="the command that starts an ACP agent")
    parser.add_argument("--tasks", type=Path, default=TASKS, metavar="DIR")
    parser.add_argument("--auth", default="", metavar="ID", help="the method by which the agent signs in")
    parser.add_argument(
        "--mode", default="", metavar="ID", help="the mode to work in, by the agent's name for it"
    )
    parser.add_argument("--policy", choices=POLICIES, help="default: both, one after another")
    parser.add_argument(
        "--timeout", type=float, default=300.0, metavar="S", help="time limit in seconds for each task"
    )
    parser.add_argument(
        "--max-context",
        type=int,
        metavar="N",
        help="token limit for the context window of each task",
    )
    parser.add_argument("--scripted", action="store_true", help="use a scripted model")
    parser.add_argument(
        "--npm",
        default="node_modules",
        metavar="DIR",
        help="the node_modules folder with agents from `agent_starts.toml`",
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="write one JSON object per task to this file"
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="run only these tasks")
    return parser.parse_args()


def main() -> int:
    options = _options()
    tasks = [task for task in read_tasks(options.tasks) if not options.names or task.name in options.names]
    policies: tuple[Policy, ...] = (options.policy,) if options.policy else POLICIES
    budget = Budget(options.timeout, options.max_context)

    own = {"HERMES_ACP_UNSTABLE": "1"}  # so that the response to a prompt includes its tokens
    environment = own if options.scripted else {**own, **os.environ}
    start = AgentStart(tuple(shlex.split(options.agent)), environment, options.auth, options.mode)
    if options.scripted:
        rows = anyio.run(evaluate_scripted, start, tasks, policies, budget, str(Path(options.npm).resolve()))
    else:
        rows = anyio.run(evaluate, start, tasks, policies, budget)
    report(rows)
    for row in rows:
        if not row.passed:
            print(
                f"    {row.policy} {row.task}: not passed, {row.reason}, {row.questions} questions",
                file=sys.stderr,
            )
    if options.out:
        options.out.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
