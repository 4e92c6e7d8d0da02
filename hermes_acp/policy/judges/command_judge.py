"""Check shell commands step by step, and decide how commands that need no approval are confined."""

from collections.abc import Sequence
from functools import partial

from msgspec import Struct, structs

from hermes_acp.core.proposals import Runs
from hermes_acp.policy.grants import prefix_subject, run_subject
from hermes_acp.policy.judges.host_judge import check_named_host
from hermes_acp.policy.judges.path_judge import check_read, check_write
from hermes_acp.policy.policy_context import PolicyContext
from hermes_acp.policy.safe_commands import unsafe_reasons
from hermes_acp.policy.sensitive_names import holds_secrets, is_sensitive
from hermes_acp.policy.shell.command_analysis import CommandAnalysis, analyze_command
from hermes_acp.policy.shell.command_dependencies import fingerprint_of
from hermes_acp.policy.shell.command_paths import (
    HARMLESS_DEVICES,
    LISTED_FOLDERS,
    PUBLIC_FILES,
    PUBLIC_FOLDERS,
    ShellEnvironment,
    is_within,
)
from hermes_acp.policy.shell.command_step import Step
from hermes_acp.policy.shell.destructive_commands import is_device
from hermes_acp.policy.shell.program_tables import load_tables
from hermes_acp.policy.verdicts import ALLOWED, StepVerdict, Verdict, apply_rule, strictest


class CommandVerdict(Struct, frozen=True):
    """The verdict on a command as a whole and on each of its steps."""

    verdict: Verdict
    steps: tuple[StepVerdict, ...] = ()


def check_run(effect: Runs, case: PolicyContext) -> CommandVerdict:
    """Check a command."""
    shut = case.rulebook.denied_paths((case.tool,))
    environment = ShellEnvironment(effect.roots or (effect.cwd,), case.user_home, case.search_path, shut)
    analysis = analyze_command(effect.command, effect.cwd, environment, case.rulebook.watched)
    steps = tuple(_check_step(step, effect, case) for step in analysis.steps)
    return CommandVerdict(
        _confined(_check_whole(effect, analysis, steps, case), effect, analysis, case), steps
    )


def _confined(verdict: Verdict, effect: Runs, analysis: CommandAnalysis, case: PolicyContext) -> Verdict:
    """Decide how a command that needs no approval is confined; without a sandbox, only fixed forms run."""
    if verdict.decision != "allow" or case.mode == "bypass":
        return verdict
    if not effect.confined:
        return strictest([verdict, *map(partial(Verdict, "ask"), unsafe_reasons(effect))])
    changed = {path for step in analysis.steps for path in (*step.writes, *step.deletes)} - HARMLESS_DEVICES
    only_reads = analysis.is_harmless and not changed
    return structs.replace(verdict, confinement="read_only" if only_reads else "must")


def is_sensitive_step(step: Step, case: PolicyContext) -> bool:
    """Return whether a step is too sensitive for standing grants: protected files, secrets or elevated privileges."""
    changed = (*step.writes, *step.deletes)
    touches = any(case.protects(path) or holds_secrets(path) for path in changed)
    return touches or any(map(is_sensitive, (*step.reads, *step.lists))) or _elevates(step)


def fingerprint_steps(steps: Sequence[StepVerdict], effect: Runs) -> str:
    """Return a fingerprint of the state of everything that a command's steps depend on."""
    footings = ((*judged.step.dependencies, *judged.step.scripts) for judged in steps)
    return fingerprint_of(footings, effect.cwd, effect.roots)


def _check_whole(
    effect: Runs, analysis: CommandAnalysis, steps: Sequence[StepVerdict], case: PolicyContext
) -> Verdict:
    if analysis.destruction:
        return Verdict("deny", analysis.destruction)
    if case.standing_grants.refuses("run", run_subject(effect)):
        return Verdict("deny", "the user refused this command")
    verdict = strictest([judged.verdict for judged in steps])
    if analysis.was_cut_short and (rule := case.rulebook.named_in(effect.command, case.tool)):
        return apply_rule(verdict, rule)
    if verdict.decision == "deny":
        return verdict
    if case.mode == "plan" and not (analysis.is_harmless and verdict.decision == "allow"):
        return Verdict("deny", "plan mode runs only commands that read")
    if _is_unattended(effect, case):
        return verdict
    if effect.leaves_sandbox:
        return strictest([verdict, Verdict("ask", "it would run outside the sandbox")])
    if case.mode == "plan":
        return ALLOWED
    if _is_granted_whole(effect, steps, case):
        return ALLOWED
    if analysis.obstacles:
        return strictest([verdict, Verdict("ask", "; ".join(analysis.obstacles[:3]))])
    return verdict


def _is_granted_whole(effect: Runs, steps: Sequence[StepVerdict], case: PolicyContext) -> bool:
    """Return whether the user permanently allowed exactly this command, and nothing that it depends on has changed."""
    state = case.standing_grants.allowed_state("run", run_subject(effect))
    if state is None or any(is_sensitive_step(judged.step, case) for judged in steps):
        return False
    if any(judged.rule and judged.rule.decision == "ask" for judged in steps):
        return False
    return state == fingerprint_steps(steps, effect)


def _check_step(step: Step, effect: Runs, case: PolicyContext) -> StepVerdict:
    """Check one step: first its program, then every path and host that it names."""
    rule = case.rulebook.for_step(step, case.tool)
    own = apply_rule(_check_program(step, effect, case), rule, is_spared=_elevates(step))
    verdicts = [own]
    ways_round = dict(step.passed_over)
    for path in step.reads:
        verdict = _check_read(path, effect, case)
        if verdict.decision == "ask" and path in ways_round:
            verdict = Verdict("ask", f"{verdict.why}; {ways_round[path]} avoids that")
        verdicts.append(verdict)
    verdicts += (_check_listing(path, effect, case) for path in step.lists)
    verdicts += (_check_write(path, effect, case) for path in step.writes)
    verdicts += (_check_write(path, effect, case, is_whole=False) for path in step.deletes)
    verdicts += (check_named_host(host, case) for host in step.hosts)
    return StepVerdict(step, strictest(verdicts), rule)


def _check_program(step: Step, effect: Runs, case: PolicyContext) -> Verdict:
    if step.judgement == "harmless" or case.mode == "bypass":
        return ALLOWED
    if _is_unattended(effect, case) and not _elevates(step):
        return ALLOWED
    return ALLOWED if _is_granted(step, effect, case) else Verdict("ask", step.why)


def _is_granted(step: Step, effect: Runs, case: PolicyContext) -> bool:
    if not step.prefix or _elevates(step):
        return False
    state = case.standing_grants.allowed_state("run", prefix_subject(effect.cwd, step.prefix))
    return state is not None and state == fingerprint_of([step.dependencies], effect.cwd, effect.roots)


def _elevates(step: Step) -> bool:
    return step.program in load_tables().elevators.names


def _is_outside(path: str, effect: Runs) -> bool:
    return not any(is_within(path, root) for root in effect.roots or (effect.cwd,))


def _is_unattended(effect: Runs, case: PolicyContext) -> bool:
    is_kept_in = effect.confined and not effect.leaves_sandbox
    return case.mode == "bypass" or (case.mode == "auto" and is_kept_in)


def _check_read(path: str, effect: Runs, case: PolicyContext) -> Verdict:
    if path in HARMLESS_DEVICES or path in PUBLIC_FILES:
        return ALLOWED
    verdict = check_read(path, case)
    # A rule that names the path literally is the user's own decision, wherever the path is.
    if verdict.decision != "allow" or verdict.why or _is_unattended(effect, case):
        return verdict
    if not _is_outside(path, effect) or any(is_within(path, folder) for folder in PUBLIC_FOLDERS):
        return verdict
    outside = Verdict("ask", f"{path} is outside the session's folders")
    return apply_rule(outside, case.rulebook.for_path(path, "read", case.tool))


def _check_listing(path: str, effect: Runs, case: PolicyContext) -> Verdict:
    """Check the listing of a folder; listing a parent of the session's folders reveals no secrets."""
    is_above = any(is_within(root, path) for root in (*effect.roots, effect.cwd, case.user_home))
    is_known = is_above or path in LISTED_FOLDERS
    return check_read(path, case) if is_known else _check_read(path, effect, case)


def _check_write(path: str, effect: Runs, case: PolicyContext, *, is_whole: bool = True) -> Verdict:
    if path in HARMLESS_DEVICES:
        return ALLOWED
    if is_device(path):
        return Verdict("deny", f"{path} is a device")
    verdict = check_write(path, case, is_whole=is_whole)
    if verdict.decision != "allow" or verdict.why or _is_unattended(effect, case):
        return verdict
    if _is_outside(path, effect):
        return Verdict("ask", f"{path} is outside the session's folders")
    return verdict
