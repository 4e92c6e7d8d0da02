"""The policy engine: check a call's effects against rules, grants and the mode.

A call is allowed only if all of its effects are allowed, and denied if any effect is denied; otherwise, the user is
asked. A shell command has one effect per step (`policy/shell`), and each is checked separately.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import structs

from hermes_acp.core.denied_paths import DeniedPath
from hermes_acp.core.event_types import Grant, Mode
from hermes_acp.core.flow_labels import Source
from hermes_acp.core.policy_rules import Rule
from hermes_acp.core.ports.trust_ports import WorkspacePolicyStore
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
from hermes_acp.policy.call_effects import CallSummary, is_warned_about, summarize_call
from hermes_acp.policy.grants import StandingGrants, call_subject, prefix_subject, run_subject
from hermes_acp.policy.information_flow import NO_FLOW, FlowState, check_flow, sources_of
from hermes_acp.policy.judges.call_judge import check_call, check_function, check_note, check_recall
from hermes_acp.policy.judges.host_judge import check_page_input, check_reach
from hermes_acp.policy.judges.path_judge import check_delete, check_read, check_write
from hermes_acp.policy.policy_context import PolicyContext
from hermes_acp.policy.rule_set import RuleSet
from hermes_acp.policy.sensitive_names import is_protected, is_sensitive
from hermes_acp.policy.shell.command_step import Step
from hermes_acp.policy.verdicts import ALLOWED, StepVerdict, Verdict, apply_rule, strictest


class Policy:
    """The rules of one home folder, which is itself off limits to every call.

    Commands will see `user_home` and `search_path`. `rules` are the user's own and apply everywhere; `policy_store`
    adds those for a particular workspace.
    """

    def __init__(
        self,
        home: str,
        user_home: str = "/",
        search_path: Sequence[str] = (),
        rules: Sequence[Rule] = (),
        policy_store: WorkspacePolicyStore | None = None,
        imports: Callable[[str], Mapping[str, str]] | None = None,
        foreign: Sequence[DeniedPath] = (),
    ) -> None:
        """Store what applies to all calls.

        `imports` returns the files imported by a workspace's context files, with the names of the importers. `foreign`
        lists the homes of other profiles.
        """
        self._foreign = tuple(foreign)
        self._home = home
        self._user_home = user_home
        self._search_path = tuple(search_path)
        self._rules = tuple(rules)
        self._settlements = policy_store
        self._imports = imports

    def judge(
        self,
        effects: Iterable[Effect],
        mode: Mode,
        grants: Iterable[Grant],
        *,
        tool: str = "",
        place: str = "",
        folder: str = "",
        flow: FlowState = NO_FLOW,
    ) -> Verdict:
        """Check all effects of a call to `tool`, in a session whose working directory is `place`.

        If its files are on another machine, relative rules start from `folder` on that machine. `flow` is what the
        session has read.
        """
        effects = tuple(effects)
        case = self._case(mode, grants, tool, place, folder)
        verdicts = [_check_effect(effect, case) for effect in effects]
        if case.tool_rule and case.tool_rule.decision != "allow":
            verdicts.append(apply_rule(ALLOWED, case.tool_rule))
        return strictest([*verdicts, check_flow(effects, case, flow)])

    def sources_of(
        self, effects: Iterable[Effect], place: str, *, has_network: bool = True
    ) -> tuple[Source, ...]:
        """Return the untrusted and private sources that a call with these effects reads."""
        case = self._case("ask", (), "", place)
        return tuple(dict.fromkeys(sources_of(effects, case, place, has_network=has_network)))

    def judge_steps(
        self, effect: Runs, mode: Mode, grants: Iterable[Grant]
    ) -> tuple[Verdict, tuple[StepVerdict, ...]]:
        """Check a command; return its verdict and those of its steps."""
        from hermes_acp.policy.judges.command_judge import check_run

        trial = check_run(effect, self._case(mode, grants, "terminal", effect.cwd))
        return trial.verdict, trial.steps

    def grants_for(self, effects: Iterable[Effect], *, allowed: bool, place: str = "") -> tuple[Grant, ...]:
        """Return one standing grant, as narrow as possible, for each effect that a person can grant.

        Protected and secret paths are never granted, nor is any call that would delete or publish something, or whose
        commands contact other machines. A command is remembered by the prefixes of all its steps if each prefix is
        unambiguous, otherwise verbatim; if no sandbox would confine the command, it is not remembered at all.
        """
        effects = tuple(effects)
        grants: list[Grant] = []
        imports = self.imports(place)
        if allowed and self._is_warned_about(effects, place):
            return ()
        for effect in effects:
            match effect:
                case Writes() if not (allowed and (effect.path in imports or _is_sensitive_write(effect))):
                    grants.append(Grant("write", effect.path, allowed))
                case Runs():
                    grants += (
                        self._grants_for_run(effect, place)
                        if allowed
                        else [Grant("run", run_subject(effect), False)]
                    )
                case Reaches(host=host):
                    grants.append(Grant("reach", host, allowed))
                case Deletes(path=path):
                    grants.append(Grant("delete", path, allowed))
                case Calls():
                    state = effect.state if allowed else ""
                    grants.append(Grant("call", call_subject(effect), allowed, state))
                case _:
                    pass
        return tuple(dict.fromkeys(grants))

    def summarize(self, effects: Iterable[Effect], why: str, place: str = "") -> CallSummary:
        """Summarise for the user what a call would do, with the reasons for asking that this does not already state."""
        effects = tuple(effects)
        steps = [
            step for effect in effects if isinstance(effect, Runs) for step in self._steps(effect, place)
        ]
        return summarize_call(effects, steps, why, place)

    def denied_paths(self, place: str, tools: Sequence[str], folder: str = "") -> tuple[DeniedPath, ...]:
        """Return what rules deny to these tools in a workspace, for commands that run without anyone to ask."""
        return self._case("auto", (), "", place, folder).rulebook.denied_paths(tools)

    def unread(self, place: str) -> tuple[DeniedPath, ...]:
        """Return the paths in a folder that rules deny reading or ask about, and the homes of other profiles."""
        by_rules = (each for each in self.denied_paths(place, ("read_file",)) if each.hides)
        return (*self._foreign, *by_rules)

    def imports(self, place: str) -> Mapping[str, str]:
        """Return the files that a workspace's context files import: real path to importer name."""
        return self._imports(place) if self._imports and place else {}

    def remember(self, place: str, grants: Sequence[Grant]) -> None:
        """Store standing grants for later sessions in a workspace. Raises StorageError."""
        if self._settlements:
            self._settlements.remember(place, grants)

    def _steps(self, effect: Runs, place: str) -> tuple[Step, ...]:
        from hermes_acp.policy.judges.command_judge import check_run

        case = self._case("ask", (), "terminal", place or effect.cwd)
        return tuple(judged.step for judged in check_run(effect, case).steps)

    def _is_warned_about(self, effects: Sequence[Effect], place: str) -> bool:
        """Return whether the user is warned about a call, unless it opens a page: that answer names the host."""
        others = [effect for effect in effects if not isinstance(effect, Reaches)]
        return is_warned_about(self.summarize(others, "", place).effects)

    def _grants_for_run(self, effect: Runs, place: str) -> list[Grant]:
        from hermes_acp.policy.judges.command_judge import check_run, fingerprint_steps, is_sensitive_step
        from hermes_acp.policy.shell.command_dependencies import fingerprint_of

        case = self._case("ask", (), "terminal", place or effect.cwd)
        trial = check_run(effect, case)
        if trial.verdict.decision != "ask" or effect.leaves_sandbox or not effect.confined:
            return []
        if any(is_sensitive_step(judged.step, case) for judged in trial.steps):
            return []
        asked = [judged.step for judged in trial.steps if judged.verdict.decision == "ask"]

        def bound(dependencies: tuple[str, ...]) -> str:
            return fingerprint_of([dependencies], effect.cwd, effect.roots)

        narrow = [
            Grant("run", prefix_subject(effect.cwd, step.prefix), True, bound(step.dependencies))
            for step in asked
            if step.prefix
        ]
        narrow += [Grant("write", path, True) for step in asked for path in step.writes]
        known = structs.replace(case, standing_grants=StandingGrants(narrow))
        if narrow and check_run(effect, known).verdict.decision == "allow":
            return narrow
        return [Grant("run", run_subject(effect), True, fingerprint_steps(trial.steps, effect))]

    def _case(
        self, mode: Mode, grants: Iterable[Grant], tool: str, place: str, folder: str = ""
    ) -> PolicyContext:
        of_place = self._settlements if place else None
        rules = (*self._rules, *(of_place.rules(place) if of_place else ()))
        grants = (*(of_place.grants(place) if of_place else ()), *grants)
        begins_in = folder or os.path.realpath(place or "/") if rules else "/"
        book = RuleSet(rules, begins_in, self._user_home)
        return PolicyContext(
            mode=mode,
            standing_grants=StandingGrants(grants),
            rulebook=book,
            tool=tool,
            tool_rule=book.for_tool(tool) if tool else None,
            own_home=self._home,
            user_home=self._user_home,
            search_path=self._search_path,
            is_remote=bool(folder),
            imports={} if folder else self.imports(place),
        )


def _is_sensitive_write(effect: Writes) -> bool:
    """Return whether no standing grant may cover a change, because the file is protected or contains keys."""
    return is_protected(effect.path) or is_sensitive(effect.path) or bool(effect.secret)


def _check_effect(effect: Effect, case: PolicyContext) -> Verdict:
    match effect:
        case Reads(path=path, secret=secret):
            return check_read(path, case, secret)
        case Writes(path=path, secret=secret):
            return check_write(path, case, secret=secret)
        case Deletes(path=path):
            return check_delete(path, case)
        case Reaches():
            return check_reach(effect, case)
        case Presses():
            return check_page_input(effect, case)
        case Runs():
            from hermes_acp.policy.judges.command_judge import check_run

            return check_run(effect, case).verdict
        case Calls():
            return check_call(effect, case)
        case Recalls():
            return check_recall(case)
        case Invokes():
            return check_function(effect, case)
        case Remembers():
            return check_note(effect, case)
