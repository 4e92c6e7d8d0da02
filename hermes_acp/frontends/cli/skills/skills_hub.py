"""The `hermes-acp skills install`, `update`, `audit` and `remove` commands: third-party skills the user approves.

Knows: what the user is shown before they agree. Does not know: how a skill is fetched, scanned or pinned.
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hermes_acp.config.environment import Environment
from hermes_acp.core.errors import BadRequest
from hermes_acp.frontends.cli.cli_output import bold, escaped, local_time, note
from hermes_acp.frontends.cli.messages import skill_messages

if TYPE_CHECKING:
    from hermes_acp.skills.skill_hub import SkillCandidate, SkillHub
    from hermes_acp.skills.skill_usage import SkillUsageTracker

SCRIPTS: Final = (".bash", ".bat", ".cmd", ".js", ".mjs", ".pl", ".ps1", ".py", ".rb", ".sh", ".ts", ".zsh")


def add_hub(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Describe the subcommands and their flags; `add` returns a subcommand's parser."""
    install = add("install", help=skill_messages.INSTALL_HELP)
    install.add_argument("source", metavar="SOURCE", help=skill_messages.SOURCE_HELP)
    update = add("update", help=skill_messages.UPDATE_HELP)
    audit = add("audit", help=skill_messages.AUDIT_HELP)
    remove = add("remove", help=skill_messages.REMOVE_HELP)
    for action in (update, audit):
        action.add_argument("name", nargs="*", metavar="NAME", help=skill_messages.NAMES_HELP)
    remove.add_argument("name", metavar="NAME", help=skill_messages.INSTALLED_NAME_HELP)
    for action in (install, update):
        action.add_argument("--yes", action="store_true", help=skill_messages.YES_HELP)


def run_hub(environment: Environment, place: Path, options: argparse.Namespace) -> int:
    """Run the subcommand and return the exit code."""
    from hermes_acp.clock import SystemClock
    from hermes_acp.skills.skill_hub import SkillHub, read_source

    search_path = environment.variables.get("PATH", "")
    hub = SkillHub(environment.home, usage_tracker_of(environment), SystemClock().now, search_path)
    match options.action:
        case "install":
            with hub.fetched(read_source(options.source, place)) as candidate:
                return _decide(hub, candidate, is_agreed=options.yes)
        case "update":
            return max((_try_update(hub, name, options) for name in _named(hub, options)), default=0)
        case "audit":
            return max((_audit(hub, name) for name in _named(hub, options)), default=0)
        case _:
            hub.remove(options.name)
            print(skill_messages.removed(escaped(options.name)))
            return 0


def usage_tracker_of(environment: Environment) -> "SkillUsageTracker":
    """Return the log of skill uses."""
    from hermes_acp.clock import SystemClock
    from hermes_acp.skills.skill_usage import SkillUsageTracker

    return SkillUsageTracker(environment.home, SystemClock().now)


def _named(hub: "SkillHub", options: argparse.Namespace) -> list[str]:
    names = options.name or sorted(hub.installed())
    if not names:
        note(skill_messages.NO_INSTALLED)
    return names


def _try_update(hub: "SkillHub", name: str, options: argparse.Namespace) -> int:
    """Update one of several skills; if it is unavailable, the others are still updated."""
    try:
        return _update(hub, name, options)
    except BadRequest as error:
        note(skill_messages.update_failed(name, error.sentence()))
        return error.exit_code


def _update(hub: "SkillHub", name: str, options: argparse.Namespace) -> int:
    source = hub.find(name).source
    with hub.fetched(source) as candidate:
        if candidate.name != name:
            raise BadRequest(
                skill_messages.renamed(source.text, candidate.name), hint=skill_messages.RENAMED_HINT
            )
        if not candidate.is_new:
            print(skill_messages.up_to_date(bold(escaped(name))))
            return 0
        return _decide(hub, candidate, is_agreed=options.yes)


def _audit(hub: "SkillHub", name: str) -> int:
    audit = hub.audit(name)
    locked = audit.locked
    state = skill_messages.NOT_AS_APPROVED if audit.troubles else skill_messages.AS_APPROVED
    source, when = escaped(locked.source.text), local_time(locked.installed_at)
    print(skill_messages.audited(bold(escaped(name)), state, source, when, locked.commit[:12]))
    for sentence in (*audit.troubles, *audit.warnings):
        print(f"  {escaped(sentence)}")
    return 1 if audit.troubles else 0


def _decide(hub: "SkillHub", candidate: "SkillCandidate", *, is_agreed: bool) -> int:
    """Show a skill and install it if the user agrees; return the exit code, 1 if they do not."""
    _show(candidate)
    if candidate.check.faults:
        raise BadRequest(skill_messages.not_installed(candidate.name, " ".join(candidate.check.faults)))
    has_findings = bool(candidate.check.warnings)
    if not (is_agreed and not has_findings):
        if not sys.stdin.isatty():
            hint = skill_messages.USE_A_TERMINAL_HINT if has_findings else skill_messages.USE_YES_HINT
            raise BadRequest(skill_messages.APPROVAL_NEEDED, hint=hint)
        answer = input(skill_messages.may_install(escaped(candidate.name)))
        if answer.strip().lower() not in ("y", "yes"):
            print(skill_messages.NOTHING_INSTALLED)
            return 1
    hub.install(candidate)
    print(skill_messages.installed(bold(escaped(candidate.name))))
    return 0


def _show(candidate: "SkillCandidate") -> None:
    print(f"{bold(escaped(candidate.name))}: {escaped(candidate.description)}")
    print(skill_messages.from_source(escaped(candidate.source.text), candidate.commit))
    print(skill_messages.in_quarantine(escaped(candidate.place)))
    for path, blob in sorted(candidate.files.items()):
        is_program = blob.is_executable or path.endswith(SCRIPTS)
        print(f"  {skill_messages.file_line(escaped(path), len(blob.content), is_program=is_program)}")
    if candidate.is_installed:
        for change in candidate.changes:
            print(f"  {escaped(change)}")
    for finding in (*candidate.check.faults, *candidate.check.warnings):
        print(f"! {escaped(finding)}")
