"""Track information flow: what a call lets a session read, and which calls may send that out of the session.

Once a session has read untrusted text and private data (in `auto` mode: untrusted text alone), or a secret, effects
that leave the machine, outlive the session or delete files need approval again. Notes need it in every mode once
untrusted text has been read, because later sessions would trust them. The user's answers from before the latest source
was read do not count; the user's own rules do.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from msgspec import Struct

from hermes_acp.core.event_types import Grant
from hermes_acp.core.flow_labels import OTHER_SESSIONS, Exposure, Source
from hermes_acp.core.policy_rules import Rule
from hermes_acp.core.proposals import (
    Calls,
    Deletes,
    Effect,
    Invokes,
    Presses,
    Reaches,
    Reads,
    Recalls,
    Remembers,
    Runs,
    Writes,
)
from hermes_acp.policy.grants import StandingGrants, call_subject, prefix_subject, run_subject
from hermes_acp.policy.policy_context import PolicyContext
from hermes_acp.policy.program_effects import deletes_files, is_loopback, uses_network
from hermes_acp.policy.sensitive_names import is_sensitive
from hermes_acp.policy.verdicts import ALLOWED, StepVerdict, Verdict

PACKAGE_FOLDERS: Final = frozenset(
    {"node_modules", "site-packages", "dist-packages", "bower_components", "third_party", "vendor"}
)
"""The names of folders that contain third-party code."""
MAX_COMMAND_CHARACTERS: Final = 60
CARRYING: Final = frozenset({"network", "processes"})
"""The capabilities with which a function of the embedding program may send data out."""


class FlowState(Struct, frozen=True):
    """What is known about the information flow when a call is checked.

    `informed` lists the "always" answers given since the latest source was read. `is_known_link` returns whether a URL
    appears verbatim in what the user or a web page said; fetching such a URL sends out nothing beyond the URL itself.
    """

    exposure: Exposure = Exposure()
    informed: tuple[Grant, ...] = ()
    is_known_link: Callable[[str], bool] = lambda _: False


NO_FLOW: Final = FlowState()


def check_flow(effects: Iterable[Effect], case: PolicyContext, flow: FlowState) -> Verdict:
    """Check whether a call may send out what the session has read; the reason names the sources."""
    if case.mode == "plan" or _is_users_allow(case.tool_rule):
        return ALLOWED
    effects = tuple(effects)
    is_planted = bool(flow.exposure.untrusted) and any(isinstance(effect, Remembers) for effect in effects)
    if not is_planted and (case.mode == "bypass" or not flow.exposure.restricts(case.mode)):
        return ALLOWED
    if not is_planted and not any(_carries_out(effect, case, flow) for effect in effects):
        return ALLOWED
    return Verdict("ask", flow.exposure.reason())


def sources_of(
    effects: Iterable[Effect], case: PolicyContext, cwd: str, *, has_network: bool
) -> Iterator[Source]:
    """Yield the sources that a call with these effects lets the model read.

    With `has_network`, its commands may contact other machines.
    """
    for effect in effects:
        match effect:
            case Reaches(host=host, url=url) if not is_loopback(host):
                yield Source("untrusted", url)
            case Calls():
                yield _answers_of(effect)
            case Invokes(capability=str()):
                yield _result_of(effect)
            case Recalls():
                yield OTHER_SESSIONS
            case Reads(path=path, secret=secret) | Writes(path=path, secret=secret):
                yield from _sources_of_path(path, cwd, is_secret=bool(secret))
            case Runs():
                yield from _sources_of_run(effect, case, cwd, has_network=has_network)
            case _:
                pass


def _answers_of(effect: Calls) -> Source:
    return Source("untrusted", f"{effect.tool} of the MCP server {effect.server}")


def _result_of(effect: Invokes) -> Source:
    return Source("untrusted", f"the result of {effect.function}")


def _sources_of_run(effect: Runs, case: PolicyContext, cwd: str, *, has_network: bool) -> Iterator[Source]:
    for step in (judged.step for judged in _judged_steps(effect, case)):
        for path in step.reads:
            yield from _sources_of_path(path, cwd)
        if has_network and uses_network(step):
            yield Source("untrusted", f"the output of {_short(step.command)}")


def _sources_of_path(path: str, cwd: str, *, is_secret: bool = False) -> Iterator[Source]:
    shown = os.path.relpath(path, cwd) if path.startswith(cwd.rstrip("/") + "/") else path
    if is_secret or is_sensitive(path):
        yield Source("secret", shown)
    parts = shown.split("/")
    for at, name in enumerate(parts[:-1]):
        if name in PACKAGE_FOLDERS:
            yield Source("untrusted", "/".join(parts[: at + 2]))
            return


def _carries_out(effect: Effect, case: PolicyContext, flow: FlowState) -> bool:
    """Return whether an effect leaves the machine or outlives the session without approval from the user or a rule."""
    informed = StandingGrants(flow.informed)
    match effect:
        case Reaches(host=host, url=url):
            is_free = is_loopback(host) or informed.allows("reach", host)
            is_free = is_free or (effect.is_all_sent and flow.is_known_link(url))
            return not (is_free or _is_users_allow(case.rulebook.for_host(host, case.tool)))
        case Calls():
            if flow.exposure == Exposure().including([_answers_of(effect)]):
                return False  # a tool's own results do not prevent calling it again
            return informed.allowed_state("call", call_subject(effect)) != effect.state
        case Presses():
            return effect.sends_text or bool(effect.uploads)
        case Invokes():
            is_own = flow.exposure == Exposure().including([_result_of(effect)])
            return effect.approval != "never" and effect.capability in CARRYING and not is_own
        case Writes(path=path) | Deletes(path=path):
            rule = case.rulebook.for_path(path, "write", case.tool)
            return case.protects(path) and not _is_users_allow(rule)
        case Remembers():
            return True
        case Runs():
            return _run_carries_out(effect, case, informed)
        case Reads() | Recalls():
            return False


def _run_carries_out(effect: Runs, case: PolicyContext, informed: StandingGrants) -> bool:
    """Return whether a command contacts other machines without approval.

    A sandboxed command cannot, but it may delete what an undo cannot restore.
    """
    if informed.allowed_state("run", run_subject(effect)) is not None:
        return False
    is_confined = effect.confined and case.mode == "auto" and not effect.leaves_sandbox
    is_harmful = deletes_files if is_confined else uses_network
    return any(
        is_harmful(judged.step)
        and not _is_users_allow(judged.rule)
        and informed.allowed_state("run", prefix_subject(effect.cwd, judged.step.prefix)) is None
        for judged in _judged_steps(effect, case)
    )


def _judged_steps(effect: Runs, case: PolicyContext) -> tuple[StepVerdict, ...]:
    from hermes_acp.policy.judges.command_judge import check_run

    return check_run(effect, case).steps


def _is_users_allow(rule: Rule | None) -> bool:
    return rule is not None and rule.is_users and rule.decision == "allow"


def _short(command: str) -> str:
    line = " ".join(command.split())
    return f"`{line[:MAX_COMMAND_CHARACTERS]}…`" if len(line) > MAX_COMMAND_CHARACTERS else f"`{line}`"
