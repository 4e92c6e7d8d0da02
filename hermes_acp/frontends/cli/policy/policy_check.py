"""The `hermes-acp policy check` command: read commands and print decisions, one JSON object per line."""

import os
import sys
from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Struct

from hermes_acp.core.event_types import Mode
from hermes_acp.core.policy_rules import Decision
from hermes_acp.core.proposals import Confinement, Runs
from hermes_acp.frontends.cli.messages import policy_messages
from hermes_acp.policy.policy_engine import Policy
from hermes_acp.policy.verdicts import StepVerdict
from hermes_acp.workspaces.sandbox.mechanisms.sandbox_detection import SandboxMechanism


class PolicyRequest(Struct):
    """One input line."""

    cmd: str
    id: Any = None


class PolicyAnswer(Struct):
    """One output line."""

    id: Any
    decision: Decision
    effects: list[dict[str, object]]
    why: str
    sandbox: SandboxMechanism = "none"
    confinement: Confinement = "usual"


def check_lines(
    lines: Iterable[bytes], policy: Policy, cwd: str, mode: Mode, sandbox: SandboxMechanism
) -> int:
    """Answer every line, assuming the given sandbox; stop silently if the reader of the output leaves."""
    try:
        for line in lines:
            if line.strip():
                sys.stdout.buffer.write(
                    msgspec.json.encode(answer_line(line, policy, cwd, mode, sandbox)) + b"\n"
                )
                sys.stdout.buffer.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def answer_line(line: bytes, policy: Policy, cwd: str, mode: Mode, sandbox: SandboxMechanism) -> PolicyAnswer:
    """Check one line. A malformed line counts as a command that cannot be parsed, which needs approval."""
    try:
        asked = msgspec.json.decode(line, type=PolicyRequest)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        return PolicyAnswer(_id_of(line), "ask", [], policy_messages.bad_line(str(error)), sandbox)
    if not asked.cmd.strip() or "\0" in asked.cmd:
        return PolicyAnswer(asked.id, "ask", [], policy_messages.EMPTY_COMMAND_REASON, sandbox)
    effect = Runs(asked.cmd, cwd, (cwd,), confined=sandbox != "none")
    verdict, steps = policy.judge_steps(effect, mode, ())
    effects, why = [effect_of(judged) for judged in steps], _written(verdict.why)
    return PolicyAnswer(asked.id, verdict.decision, effects, why, sandbox, verdict.confinement)


def _id_of(line: bytes) -> Any:
    try:
        return msgspec.json.decode(line, type=dict[str, Any]).get("id")
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return None


def _written(text: str) -> str:
    """Return a string that can be encoded in UTF-8, because file names may contain invalid characters."""
    return text.encode("utf-8", "backslashreplace").decode()


def effect_of(judged: StepVerdict) -> dict[str, object]:
    """Convert one step to a JSON object without empty fields."""
    step = judged.step
    shown: dict[str, object] = {
        "program": step.program,
        "command": step.command,
        "decision": judged.verdict.decision,
        "reads": [_written(path) for path in step.reads],
        "writes": [_written(path) for path in step.writes],
        "deletes": [_written(path) for path in step.deletes],
        "hosts": step.hosts,
        "why": _written(judged.verdict.why),
    }
    return {name: value for name, value in shown.items() if value}
