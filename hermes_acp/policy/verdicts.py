"""The result of a policy check, and how to combine several results into one."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec import Struct

from hermes_acp.core.policy_rules import Decision, Rule
from hermes_acp.core.proposals import Confinement

if TYPE_CHECKING:
    from hermes_acp.policy.shell.command_step import Step


class Verdict(Struct, frozen=True):
    """A decision and its reasons, worded for the user and the model; a plain approval needs no reason.

    `confinement` is how the call's commands must be confined if they run without approval.
    """

    decision: Decision
    why: str = ""
    confinement: Confinement = "usual"


class StepVerdict(Struct, frozen=True):
    """One step of a command with its verdict and the matching rule, if any."""

    step: "Step"
    verdict: Verdict
    rule: Rule | None = None


ALLOWED = Verdict("allow")


def strictest(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the strictest of several verdicts, with each distinct reason for it."""
    given = list(verdicts)
    for decision in ("deny", "ask", "allow"):
        whys = [verdict.why for verdict in given if verdict.decision == decision]
        if whys:
            return Verdict(decision, _joined(whys), _loosest(given))
    return ALLOWED


def _joined(texts: Iterable[str]) -> str:
    """Join the distinct reasons in some texts."""
    return "; ".join(dict.fromkeys(reason for text in texts for reason in text.split("; ") if reason))


def _loosest(verdicts: Iterable[Verdict]) -> Confinement:
    """Return the confinement that suffices for all effects: one of them may only read while another writes."""
    needed = {verdict.confinement for verdict in verdicts}
    return "must" if "must" in needed else "read_only" if "read_only" in needed else "usual"


def apply_rule(verdict: Verdict, rule: Rule | None, *, is_spared: bool = False) -> Verdict:
    """Apply a rule to the verdict that was reached without it.

    A denial stays a denial. A rule that allows removes the question, unless the question `is_spared` from such rules.
    """
    if rule is None:
        return verdict
    if rule.decision == "deny":
        return Verdict("deny", f"a rule denies it ({rule.source})")
    if verdict.decision == "deny":
        return verdict
    if rule.decision == "ask":
        return strictest([verdict, Verdict("ask", f"a rule asks about it ({rule.source})")])
    if verdict.decision == "ask" and not is_spared:
        return Verdict("allow", f"a rule allows it ({rule.source})")
    return verdict
