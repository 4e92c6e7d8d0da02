"""The `hermes-acp policy explain` command: explain the decision about one command."""

from typing import Final

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.event_types import Mode
from hermes_acp.core.proposals import Runs
from hermes_acp.frontends.cli.cli_output import bold, escaped
from hermes_acp.frontends.cli.messages import policy_messages
from hermes_acp.policy.grants import describe_grants
from hermes_acp.policy.policy_engine import Policy
from hermes_acp.policy.verdicts import StepVerdict
from hermes_acp.workspaces.sandbox.mechanisms.sandbox_detection import DetectedSandbox

SHOWN_PATHS: Final = 8


def explain_command(policy: Policy, command: str, cwd: str, mode: Mode, sandbox: DetectedSandbox) -> int:
    """Print the decision and its reasons; return the exit code."""
    if not command.strip() or "\0" in command:
        raise BadRequest(policy_messages.EMPTY_COMMAND, hint=policy_messages.EMPTY_COMMAND_HINT)
    effect = Runs(command, cwd, (cwd,), confined=sandbox.way != "none")
    verdict, steps = policy.judge_steps(effect, mode, ())
    sentence = policy_messages.DECISIONS[verdict.decision]
    confinement = policy_messages.CONFINEMENTS[verdict.confinement]
    print(policy_messages.decision(bold(verdict.decision), sentence, confinement))
    if verdict.why:
        print(policy_messages.reason(escaped(verdict.why)))
    for judged in steps:
        _print_step(judged)
    grants = policy.grants_for([effect], allowed=True) if verdict.decision == "ask" else ()
    for grant in grants:
        is_whole = grant.kind == "run" and grant.subject.count("\0") == 1
        subject = policy_messages.THIS_COMMAND if is_whole else describe_grants([grant], cwd)
        print(policy_messages.always_remembers(escaped(subject), is_bound=bool(grant.state)))
    if sandbox.way == "none":
        print(f"\n{policy_messages.no_sandbox(escaped(sandbox.remark))}")
    else:
        print(f"\n{policy_messages.sandbox(sandbox.way)}")
    return 0


def _print_step(judged: StepVerdict) -> None:
    step = judged.step
    print(f"\n  {bold(judged.verdict.decision):5} {escaped(step.command or step.program)}")
    named = (
        ("reads", step.reads),
        ("writes", step.writes),
        ("deletes", step.deletes),
        ("hosts", step.hosts),
    )
    for name, subjects in named:
        word = policy_messages.ACCESSES[name]
        for subject in subjects[:SHOWN_PATHS]:
            print(f"        {word} {escaped(subject)}")
        if len(subjects) > SHOWN_PATHS:
            print(f"        {policy_messages.more_paths(word, len(subjects) - SHOWN_PATHS)}")
    places = (standing.partition(":")[2] for standing in (*step.dependencies, *step.scripts))
    for place in dict.fromkeys(filter(None, places)):
        print(f"        {policy_messages.depends_on(escaped(place))}")
    if judged.rule:
        print(f"        {policy_messages.rule(judged.rule.decision, escaped(judged.rule.source))}")
    if judged.verdict.why:
        print(f"        {escaped(judged.verdict.why)}")
