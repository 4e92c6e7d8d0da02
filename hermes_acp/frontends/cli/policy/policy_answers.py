"""hermes-acp policy list and forget: what was allowed for good, by folder.

Knows: how answers are shown. Does not know: what they do.
"""

from hermes_acp.config.environment import Environment
from hermes_acp.core.event_types import Grant
from hermes_acp.frontends.cli.cli_output import bold, escaped, note
from hermes_acp.policy.grants import describe_grant
from hermes_acp.storage.workspace_entries import WorkspaceEntries


def list_answers(environment: Environment) -> int:
    """Print every folder's answers; give the exit code."""
    answers = _book(environment).all()
    if not any(answers.values()):
        note("Nothing was allowed or refused for good.")
    for place, grants in sorted(answers.items()):
        print(bold(escaped(place)))
        for grant in grants:
            word = "allow" if grant.allowed else "deny"
            bound = " (until what it runs changes)" if grant.state else ""
            print(f"  {word} {escaped(describe_grant(grant))}{bound}")
    return 0


def forget_answers(environment: Environment, place: str | None) -> int:
    """Forget one folder's answers, or all; give the exit code."""
    book = _book(environment)
    meant = [known for known in book.all() if place in (None, known)]
    for known in meant:
        book.change(known, lambda _: ())
        print(f"Forgotten: {escaped(known)}")
    if not meant:
        note(f"Nothing is remembered of {place}." if place else "Nothing is remembered of any folder.")
    return 0


def _book(environment: Environment) -> WorkspaceEntries[Grant]:
    return WorkspaceEntries(environment.home / "permissions.json", Grant)
