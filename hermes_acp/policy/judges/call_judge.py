"""Check calls to MCP tools and to functions of the embedding program, searches of other sessions, and changes to notes.

A server's own hints never allow a call; at most, they turn a refusal in plan mode into a question.
"""

from hermes_acp.core.proposals import Calls, Invokes, Remembers
from hermes_acp.policy.grants import call_subject
from hermes_acp.policy.policy_context import PolicyContext
from hermes_acp.policy.verdicts import ALLOWED, Verdict, apply_rule


def check_call(effect: Calls, case: PolicyContext) -> Verdict:
    """Check a call to a server's tool against nothing but the user's answers and rules."""
    subject = call_subject(effect)
    if case.standing_grants.refuses("call", subject):
        return Verdict("deny", "the user refused this tool")
    if case.mode == "plan":
        if not effect.has_read_only_hint:
            return Verdict("deny", "plan mode does not call server tools that may change anything")
        hinted = f"the server {effect.server} describes its tool as read-only, which nobody has verified"
        return apply_rule(Verdict("ask", hinted), case.tool_rule)
    allowed_state = case.standing_grants.allowed_state("call", subject)
    is_free = case.mode in ("auto", "bypass") or allowed_state == effect.state
    return apply_rule(ALLOWED if is_free else Verdict("ask", _why(effect, allowed_state)), case.tool_rule)


def check_function(effect: Invokes, case: PolicyContext) -> Verdict:
    """Check a call to a function of the program that embeds the agent."""
    if case.mode == "plan" and effect.capability:
        return Verdict("deny", "plan mode does not call functions that may change something")
    is_asked = effect.approval == "always" and case.mode != "bypass"
    verdict = Verdict("ask", "the program requires approval for every call of it") if is_asked else ALLOWED
    return apply_rule(verdict, case.tool_rule)


def _why(effect: Calls, allowed_state: str | None) -> str:
    if allowed_state is None:
        return f"a tool of the server {effect.server} would be called"
    return f"the server {effect.server} or its description of the tool has changed since you allowed it"


def check_recall(case: PolicyContext) -> Verdict:
    """Check a search of sessions in other folders."""
    told = "text from sessions in other folders would be shown to the model"
    verdict = ALLOWED if case.mode in ("auto", "bypass") else Verdict("ask", told)
    return apply_rule(verdict, case.tool_rule)


def check_note(effect: Remembers, case: PolicyContext) -> Verdict:
    """Check a change to the agent's own notes.

    The user is asked if they want to review such changes, if the note is visible in every workspace, or if it is not in
    their words. `bypass` mode allows the first of these; only a rule of the user's own allows the others.
    """
    if case.mode == "plan":
        return Verdict("deny", "plan mode changes nothing")
    is_asked = effect.is_user_wide or effect.is_unsaid or (effect.is_asked and case.mode != "bypass")
    why = "what the agent stores for later sessions would change"
    if effect.is_unsaid:
        source = (
            f"the result of {effect.found_in}" if effect.found_in else "something that the agent has read"
        )
        why += f", and not in your words: it may come from {source}"
    verdict = Verdict("ask", why) if is_asked else ALLOWED
    # The note applies to every workspace, so the rules of a single workspace cannot allow it.
    is_foreign = case.tool_rule is not None and not case.tool_rule.is_users
    return apply_rule(verdict, case.tool_rule, is_spared=is_foreign)
