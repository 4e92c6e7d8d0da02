"""Check connections to other machines and actions on web pages."""

from hermes_acp.core.proposals import Presses, Reaches
from hermes_acp.policy.policy_context import PolicyContext
from hermes_acp.policy.verdicts import ALLOWED, Verdict, apply_rule


def check_reach(effect: Reaches, case: PolicyContext) -> Verdict:
    """Check a connection to one address."""
    host = effect.host
    if case.standing_grants.refuses("reach", host):
        return Verdict("deny", f"the user refused connections to {host}")
    is_free = case.mode == "bypass" or case.standing_grants.allows("reach", host)
    verdict = ALLOWED if is_free else Verdict("ask", f"{host} would be contacted")
    return apply_rule(apply_rule(verdict, case.rulebook.for_host(host, case.tool)), case.tool_rule)


def check_page_input(effect: Presses, case: PolicyContext) -> Verdict:
    """Check input to a page: it is allowed wherever opening the page's host was allowed, except in plan mode.

    Uploading a file needs approval each time, unless a rule allows the tool as a whole.
    """
    if case.mode == "plan":
        return Verdict("deny", "plan mode only reads pages; it does not click or type")
    is_free = not effect.uploads or case.mode == "bypass"
    verdict = ALLOWED if is_free else Verdict("ask", f"{effect.uploads} would be sent to {effect.host}")
    return apply_rule(verdict, case.tool_rule)


def check_named_host(host: str, case: PolicyContext) -> Verdict:
    """Check a host that a command names; only a rule against the host matters."""
    rule = case.rulebook.for_host(host, case.tool)
    return apply_rule(ALLOWED, rule if rule and rule.decision != "allow" else None)
