"""The judgement of shell commands, step by step.

Knows: what makes a whole of its steps: ruin, refusals, rules, modes, what is not understood; how a command that nobody
is asked about is confined. Does not know: shell grammar (`policy.shell`), how paths are judged (`judges.paths`).
"""

from collections.abc import Sequence
from functools import partial

from msgspec import Struct, structs

from hermes_acp.core.proposals import Runs
from hermes_acp.policy.case import Case
from hermes_acp.policy.fixed_forms import unfixed
from hermes_acp.policy.grants import beginning_subject, run_subject
from hermes_acp.policy.judges.hosts import judge_named_host
from hermes_acp.policy.judges.paths import judge_read, judge_write
from hermes_acp.policy.names import holds_secrets, is_sensitive
from hermes_acp.policy.shell.analysis import Analysis, effects_of_command
from hermes_acp.policy.shell.footing import state_of
from hermes_acp.policy.shell.never import is_device
from hermes_acp.policy.shell.places import (
    HARMLESS_DEVICES,
    LISTED_FOLDERS,
    PUBLIC_FILES,
    PUBLIC_FOLDERS,
    Surroundings,
    is_within,
)
from hermes_acp.policy.shell.steps import Step
from hermes_acp.policy.shell.tables import tables
from hermes_acp.policy.verdicts import ALLOWED, StepVerdict, Verdict, ruled, strictest


class Trial(Struct, frozen=True):
    """A judged command: the verdict on the whole, and on each step."""

    verdict: Verdict
    steps: tuple[StepVerdict, ...] = ()


def judge_run(effect: Runs, case: Case) -> Trial:
    """Judge a command."""
    shut = case.rulebook.closures((case.tool,))
    around = Surroundings(effect.roots or (effect.cwd,), case.user_home, case.search_path, shut)
    analysis = effects_of_command(effect.command, effect.cwd, around, case.rulebook.watched)
    steps = tuple(_judge_step(step, effect, case) for step in analysis.steps)
    return Trial(_confined(_judge_whole(effect, analysis, steps, case), effect, analysis, case), steps)


def _confined(verdict: Verdict, effect: Runs, analysis: Analysis, case: Case) -> Verdict:
    """Decide how a command is confined that nobody is asked about; without a sandbox only fixed forms run so."""
    if verdict.decision != "allow" or case.mode == "bypass":
        return verdict
    if not effect.confined:
        return strictest([verdict, *map(partial(Verdict, "ask"), unfixed(effect))])
    changed = {path for step in analysis.steps for path in (*step.writes, *step.deletes)} - HARMLESS_DEVICES
    only_reads = analysis.is_harmless and not changed
    return structs.replace(verdict, confinement="read_only" if only_reads else "must")


def is_delicate(step: Step, case: Case) -> bool:
    """Tell whether no standing answer covers a step: it changes what is protected, shows secrets, lends rights."""
    changed = (*step.writes, *step.deletes)
    touches = any(case.protects(path) or holds_secrets(path) for path in changed)
    return touches or any(map(is_sensitive, (*step.reads, *step.lists))) or _lends_rights(step)


def state_of_steps(steps: Sequence[StepVerdict], effect: Runs) -> str:
    """Return the state of all that a command's steps depend on."""
    footings = ((*judged.step.footing, *judged.step.scripts) for judged in steps)
    return state_of(footings, effect.cwd, effect.roots)


def _judge_whole(effect: Runs, analysis: Analysis, steps: Sequence[StepVerdict], case: Case) -> Verdict:
    if analysis.ruin:
        return Verdict("deny", analysis.ruin)
    if case.standing.refuses("run", run_subject(effect)):
        return Verdict("deny", "the user refused this command")
    verdict = strictest([judged.verdict for judged in steps])
    if analysis.was_cut_short and (rule := case.rulebook.named_in(effect.command, case.tool)):
        return ruled(verdict, rule)
    if verdict.decision == "deny":
        return verdict
    if case.mode == "plan" and not (analysis.is_harmless and verdict.decision == "allow"):
        return Verdict("deny", "plan mode runs only commands that just read")
    if _works_alone(effect, case):
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


def _is_granted_whole(effect: Runs, steps: Sequence[StepVerdict], case: Case) -> bool:
    """Tell whether a person allowed these very words for good, and what they stand on is as it was."""
    state = case.standing.allowed_state("run", run_subject(effect))
    if state is None or any(is_delicate(judged.step, case) for judged in steps):
        return False
    if any(judged.rule and judged.rule.decision == "ask" for judged in steps):
        return False
    return state == state_of_steps(steps, effect)


def _judge_step(step: Step, effect: Runs, case: Case) -> StepVerdict:
    """Judge one step: its program first, then every path and host it names."""
    rule = case.rulebook.for_step(step, case.tool)
    own = ruled(_judge_program(step, effect, case), rule, is_spared=_lends_rights(step))
    verdicts = [own]
    ways_round = dict(step.passed_over)
    for path in step.reads:
        verdict = _judge_read(path, effect, case)
        if verdict.decision == "ask" and path in ways_round:
            verdict = Verdict("ask", f"{verdict.why}; {ways_round[path]} passes it over")
        verdicts.append(verdict)
    verdicts += (_judge_listing(path, effect, case) for path in step.lists)
    verdicts += (_judge_write(path, effect, case) for path in step.writes)
    verdicts += (_judge_write(path, effect, case, is_whole=False) for path in step.deletes)
    verdicts += (judge_named_host(host, case) for host in step.hosts)
    return StepVerdict(step, strictest(verdicts), rule)


def _judge_program(step: Step, effect: Runs, case: Case) -> Verdict:
    if step.judgement == "harmless" or case.mode == "bypass":
        return ALLOWED
    if _works_alone(effect, case) and not _lends_rights(step):
        return ALLOWED
    return ALLOWED if _is_granted(step, effect, case) else Verdict("ask", step.why)


def _is_granted(step: Step, effect: Runs, case: Case) -> bool:
    if not step.beginning or _lends_rights(step):
        return False
    state = case.standing.allowed_state("run", beginning_subject(effect.cwd, step.beginning))
    return state is not None and state == state_of([step.footing], effect.cwd, effect.roots)


def _lends_rights(step: Step) -> bool:
    return step.program in tables().elevators.names


def _is_outside(path: str, effect: Runs) -> bool:
    return not any(is_within(path, root) for root in effect.roots or (effect.cwd,))


def _works_alone(effect: Runs, case: Case) -> bool:
    is_kept_in = effect.confined and not effect.leaves_sandbox
    return case.mode == "bypass" or (case.mode == "auto" and is_kept_in)


def _judge_read(path: str, effect: Runs, case: Case) -> Verdict:
    if path in HARMLESS_DEVICES or path in PUBLIC_FILES:
        return ALLOWED
    verdict = judge_read(path, case)
    # A rule that names the path outright is its user's word on it, wherever it lies.
    if verdict.decision != "allow" or verdict.why or _works_alone(effect, case):
        return verdict
    if not _is_outside(path, effect) or any(is_within(path, folder) for folder in PUBLIC_FOLDERS):
        return verdict
    outside = Verdict("ask", f"{path} is outside the session's folders")
    return ruled(outside, case.rulebook.for_path(path, "read", case.tool))


def _judge_listing(path: str, effect: Runs, case: Case) -> Verdict:
    """Judge a look at what is in a folder: the places that the session's folders lie in show no secret by that."""
    is_above = any(is_within(root, path) for root in (*effect.roots, effect.cwd, case.user_home))
    is_known = is_above or path in LISTED_FOLDERS
    return judge_read(path, case) if is_known else _judge_read(path, effect, case)


def _judge_write(path: str, effect: Runs, case: Case, *, is_whole: bool = True) -> Verdict:
    if path in HARMLESS_DEVICES:
        return ALLOWED
    if is_device(path):
        return Verdict("deny", f"{path} is a device")
    verdict = judge_write(path, case, is_whole=is_whole)
    if verdict.decision != "allow" or verdict.why or _works_alone(effect, case):
        return verdict
    if _is_outside(path, effect):
        return Verdict("ask", f"{path} is outside the session's folders")
    return verdict
