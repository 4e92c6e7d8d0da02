"""hermes-acp policy explain: the judgement of one command, for people.

Knows: how a judgement is shown. Does not know: any rule.
"""

from types import MappingProxyType
from typing import Final

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.event_types import Mode
from hermes_acp.core.proposals import Runs
from hermes_acp.frontends.cli.cli_output import bold, escaped
from hermes_acp.policy.grants import describe_grants
from hermes_acp.policy.policy_engine import Policy
from hermes_acp.policy.verdicts import StepVerdict
from hermes_acp.workspaces.sandbox.sandbox_detection import DetectedSandbox

SHOWN_PATHS: Final = 8
SENTENCES: Final = MappingProxyType(
    {
        "allow": "It runs without a question.",
        "ask": "You are asked before it runs.",
        "deny": "It is never run.",
    }
)

CONFINEMENT_SENTENCES: Final = MappingProxyType(
    {
        "usual": "",
        "must": " It runs in the sandbox.",
        "read_only": " It runs in the sandbox, with the workspace read-only.",
    }
)


def explain_command(policy: Policy, command: str, cwd: str, mode: Mode, sandbox: DetectedSandbox) -> int:
    """Print the judgement and its reasons; give the exit code."""
    if not command.strip() or "\0" in command:
        raise BadRequest(
            "The command is empty or holds NUL characters.", hint="Give a shell command in quotes."
        )
    effect = Runs(command, cwd, (cwd,), confined=sandbox.way != "none")
    verdict, steps = policy.judge_steps(effect, mode, ())
    print(
        f"{bold(verdict.decision)}: {SENTENCES[verdict.decision]}{CONFINEMENT_SENTENCES[verdict.confinement]}"
    )
    if verdict.why:
        print(f"Because {escaped(verdict.why)}.")
    for judged in steps:
        _print_step(judged)
    grants = policy.grants_for([effect], allowed=True) if verdict.decision == "ask" else ()
    for grant in grants:
        is_whole = grant.kind == "run" and grant.subject.count("\0") == 1
        form = "this very command" if is_whole else describe_grants([grant], cwd)
        bound = ", until what it runs changes" if grant.state else ""
        print(f'"Always" would remember {escaped(form)}{bound}.')
    if sandbox.way == "none":
        print(f"\nJudged without a sandbox: {escaped(sandbox.remark)}")
    else:
        print(f"\nJudged for the sandbox of this machine ({sandbox.way}).")
    return 0


def _print_step(judged: StepVerdict) -> None:
    step = judged.step
    print(f"\n  {bold(judged.verdict.decision):5} {escaped(step.command or step.program)}")
    named = (
        ("reads", step.reads),
        ("writes", step.writes),
        ("deletes", step.deletes),
        ("reaches", step.hosts),
    )
    for word, subjects in named:
        for subject in subjects[:SHOWN_PATHS]:
            print(f"        {word} {escaped(subject)}")
        if len(subjects) > SHOWN_PATHS:
            print(f"        {word} {len(subjects) - SHOWN_PATHS} more")
    for standing in (*step.dependencies, *step.scripts):
        if place := standing.partition(":")[2]:
            print(f"        stands on {escaped(place)}")
    if judged.rule:
        print(f"        rule: {judged.rule.decision}, {escaped(judged.rule.source)}")
    if judged.verdict.why:
        print(f"        {escaped(judged.verdict.why)}")
