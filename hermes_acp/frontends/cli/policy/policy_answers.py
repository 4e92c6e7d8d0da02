"""The `hermes-acp policy list` and `forget` commands: permanent answers, by folder."""

from hermes_acp.config.environment import Environment
from hermes_acp.core.event_types import Grant
from hermes_acp.frontends.cli.cli_output import bold, escaped, note
from hermes_acp.frontends.cli.messages import policy_messages
from hermes_acp.policy.grants import describe_grant
from hermes_acp.storage.workspace_entries import WorkspaceEntries


def list_answers(environment: Environment) -> int:
    """Print the permanent answers of every folder; return the exit code."""
    answers = _book(environment).all()
    if not any(answers.values()):
        note(policy_messages.NO_ANSWERS)
    for place, grants in sorted(answers.items()):
        print(bold(escaped(place)))
        for grant in grants:
            answer = policy_messages.ALLOWED if grant.allowed else policy_messages.DENIED
            subject = escaped(describe_grant(grant))
            print(f"  {policy_messages.permanent_answer(answer, subject, is_bound=bool(grant.state))}")
    return 0


def forget_answers(environment: Environment, place: str | None) -> int:
    """Delete the answers for one folder, or for all folders; return the exit code."""
    book = _book(environment)
    meant = [known for known in book.all() if place in (None, known)]
    for known in meant:
        book.change(known, lambda _: ())
        print(policy_messages.forgotten(escaped(known)))
    if not meant:
        note(policy_messages.nothing_to_forget(place) if place else policy_messages.NO_ANSWERS_ANYWHERE)
    return 0


def _book(environment: Environment) -> WorkspaceEntries[Grant]:
    return WorkspaceEntries(environment.home / "permissions.json", Grant)
