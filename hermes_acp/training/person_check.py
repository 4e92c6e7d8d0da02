"""Decide whether a person at a terminal started this process, or a program such as an agent, a schedule or CI.

A command of an agent is recognised by a variable, by a limit that its processes inherit and cannot raise again
without being root, by the processes above it, and by the program at the other end of its terminal.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import Final, Literal

from msgspec import Struct

from hermes_acp.training.caller import Caller, SeenProcess
from hermes_acp.workspaces.processes.process_spawn import MARK

Kind = Literal["no_terminal", "marked", "agent", "ci", "confined", "driven"]
CI_VARIABLES: Final = (
    "CI", "GITHUB_ACTIONS", "GITLAB_CI", "JENKINS_URL", "BUILDKITE", "CIRCLECI", "TF_BUILD", "TEAMCITY_VERSION",
)  # fmt: skip
AGENT_VARIABLES: Final = (
    MARK, "CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "GEMINI_CLI",
    "CURSOR_AGENT", "QWEN_CODE", "OPENCODE", "GOOSE_TERMINAL", "AI_AGENT",
)  # fmt: skip
"""Variables that agents set for their commands: ours first, then those of other vendors."""
AGENT_PROGRAMS: Final = frozenset(
    {
        "hermes-acp", "hermes-acp-server", "claude", "codex", "gemini", "qwen", "opencode", "goose", "aider",
        "cursor-agent", "copilot", "crush", "amp", "auggie", "droid", "kimi", "cline", "openhands", "codex-acp",
        "claude-agent-acp", "claude-code-acp", "kiro-cli",
    }
)  # fmt: skip
INTERPRETERS: Final = re.compile(r"(?:pypy|python|node|bun|deno|ruby|perl)[\d.]*")
DRIVERS: Final = re.compile(
    r"(?:pypy|python|ruby|perl|php|lua|tclsh|expect|unbuffer|script|socat|empty)[\d.]*(?:-script)?"
)
"""Programs that create a terminal and type into it; terminal emulators are not among them."""
OUR_MODULE: Final = "hermes_acp"
OWN_COMMAND: Final = "train"


class NoPerson(Struct, frozen=True):
    """Evidence that no person started the process: its kind, and the variable or program that shows it."""

    kind: Kind
    evidence: str = ""


def why_not_a_person(caller: Caller, *, needs_terminal: bool = True) -> NoPerson | None:
    """Return evidence that a process was not started by a person, or None.

    Without `needs_terminal`, only marks count.
    """
    if found := _marks(caller):
        return found
    if not needs_terminal:
        return None
    if not caller.has_terminal:
        return NoPerson("no_terminal")
    for process in caller.holders:
        if DRIVERS.fullmatch(_program(process)):
            return NoPerson("driven", _shown(process))
    return None


def _marks(caller: Caller) -> NoPerson | None:
    if caller.is_confined:
        return NoPerson("confined")
    if caller.is_tagged:
        return NoPerson("marked")
    if name := _first_set(caller.variables, AGENT_VARIABLES):
        return NoPerson("agent", name)
    if name := _first_set(caller.variables, CI_VARIABLES):
        return NoPerson("ci", name)
    for process in (*caller.lineage, *caller.holders, *caller.above_holders):
        if process.is_tagged or _is_agent(process):
            return NoPerson("agent", _shown(process))
        if name := _first_set(process.variables, AGENT_VARIABLES):
            return NoPerson("agent", f"{name} in {_shown(process)}")
    return None


def _first_set(variables: Mapping[str, str], names: Iterable[str]) -> str:
    return next((name for name in names if variables.get(name, "").lower() not in ("", "0", "false")), "")


def _is_agent(process: SeenProcess) -> bool:
    """Return whether a process is an agent, judging by its name or by the script that an interpreter runs.

    `hermes-acp train` itself does not count, because it is the parent of the trainer's process.
    """
    words = list(process.argv)
    if INTERPRETERS.fullmatch(_program(process)):
        words = words[words.index("-m") + 1 :] if "-m" in words else _from_script(words[1:])
    if not words or PurePath(words[0]).name not in (*AGENT_PROGRAMS, OUR_MODULE):
        return False
    return words[1:2] != [OWN_COMMAND]


def _from_script(words: list[str]) -> list[str]:
    """Return an interpreter's arguments from the script on."""
    return words[next((place for place, word in enumerate(words) if not word.startswith("-")), len(words)) :]


def _program(process: SeenProcess) -> str:
    return PurePath(process.argv[0]).name if process.argv else ""


def _shown(process: SeenProcess) -> str:
    return f"{_program(process)} (process {process.pid})"
