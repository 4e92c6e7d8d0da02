"""The `hermes-acp skills install`, `update`, `audit` and `remove` commands, for third-party skills."""

import argparse
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_acp.config.environment import Environment
from hermes_acp.core.errors import BadRequest
from hermes_acp.frontends.cli.cli_output import bold, escaped, local_time, note
from hermes_acp.frontends.cli.messages import skill_messages
from hermes_acp.frontends.cli.skills import messages as tap_messages
from hermes_acp.frontends.cli.skills.skill_changes import change_lines, versions_line
from hermes_acp.frontends.cli.skills.skills_taps import can_ask, showing_key_changes, taps_of
from hermes_acp.frontends.command_line.line_input import is_agreed

if TYPE_CHECKING:
    from hermes_acp.skills.skill_hub import LockEntry, SkillCandidate, SkillHub
    from hermes_acp.skills.skill_usage import SkillUsageTracker
    from hermes_acp.skills.taps.tap_service import TapService


def add_hub(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the subcommands and their flags; `add` returns a subcommand's parser."""
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
    from hermes_acp.skills.builtin_skills import builtin_digests
    from hermes_acp.skills.skill_folders import BUILTIN
    from hermes_acp.skills.skill_hub import SkillHub

    search_path = environment.variables.get("PATH", "")
    hub = SkillHub(environment.home, usage_tracker_of(environment), SystemClock().now, search_path)
    taps = taps_of(environment)
    match options.action:
        case "install":
            with showing_key_changes(taps), _fetched(taps, hub, options.source, place) as candidate:
                return _decide(hub, candidate, assumes_yes=options.yes)
        case "update":
            with showing_key_changes(taps):
                return max(
                    (_try_update(hub, taps, name, options) for name in _named(hub, options)), default=0
                )
        case "audit":
            return max((_audit(hub, taps, name) for name in _named(hub, options)), default=0)
        case _:
            if options.name in builtin_digests(BUILTIN) and options.name not in hub.installed():
                raise BadRequest(
                    skill_messages.is_built_in(options.name), hint=skill_messages.turn_off_hint(options.name)
                )
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


def _fetched(
    taps: "TapService", hub: "SkillHub", source: str, place: Path
) -> "AbstractContextManager[SkillCandidate]":
    """Fetch a skill from a source that the user names: a tap, a folder or a repository. Raises BadRequest."""
    from hermes_acp.skills.skill_source import read_source
    from hermes_acp.skills.taps.tap_installation import fetch_from_tap, tap_source

    if not (place / source).is_dir() and (found := taps.find(source)):
        wanted = tap_source(taps, found.tap, found.name)
        return hub.fetched(wanted, fetch_from_tap(taps, found.tap, found.name))
    return hub.fetched(read_source(source, place))


def _try_update(hub: "SkillHub", taps: "TapService", name: str, options: argparse.Namespace) -> int:
    """Update one of several skills; report a failure, so that the others are still updated."""
    try:
        return _update(hub, taps, name, options)
    except BadRequest as error:
        note(skill_messages.update_failed(name, error.sentence()))
        return error.exit_code


def _update(hub: "SkillHub", taps: "TapService", name: str, options: argparse.Namespace) -> int:
    from hermes_acp.skills.taps.tap_installation import fetch_from_tap

    locked = hub.find(name)
    source = locked.source
    with hub.fetched(source, fetch_from_tap(taps, locked.tap, name) if locked.tap else None) as candidate:
        if candidate.name != name:
            raise BadRequest(
                skill_messages.renamed(source.text, candidate.name), hint=skill_messages.RENAMED_HINT
            )
        if not candidate.is_new:
            print(skill_messages.up_to_date(bold(escaped(name))))
            return 0
        return _decide(hub, candidate, assumes_yes=options.yes)


def _audit(hub: "SkillHub", taps: "TapService", name: str) -> int:
    audit = hub.audit(name)
    locked = audit.locked
    tap = taps.store.taps().get(locked.tap)
    is_revoked = tap is not None and tap.is_revoked
    state = skill_messages.NOT_AS_APPROVED if audit.troubles else skill_messages.AS_APPROVED
    source, when = escaped(locked.source.text), local_time(locked.installed_at)
    print(skill_messages.audited(bold(escaped(name)), state, source, when, locked.commit[:12]))
    for sentence in (*audit.troubles, *audit.warnings):
        print(f"  {escaped(sentence)}")
    if is_revoked:
        print(f"  {tap_messages.tap_is_revoked(escaped(locked.tap))}")
    return 1 if audit.troubles or is_revoked else 0


def _decide(hub: "SkillHub", candidate: "SkillCandidate", *, assumes_yes: bool) -> int:
    """Show a skill and install it if the user agrees; return the exit code, which is 1 if not."""
    _show(candidate, hub.installed().get(candidate.name))
    is_update = candidate.is_installed
    if candidate.check.faults:
        faults = " ".join(candidate.check.faults)
        raise BadRequest(skill_messages.refused(candidate.name, faults, is_update=is_update))
    has_findings = bool(candidate.check.warnings or candidate.gained)
    if not (assumes_yes and not has_findings):
        if not can_ask():
            reason = skill_messages.UPDATE_NEEDED if is_update else skill_messages.APPROVAL_NEEDED
            hint = skill_messages.USE_A_TERMINAL_HINT if has_findings else skill_messages.USE_YES_HINT
            raise BadRequest(reason, hint=hint)
        if not is_agreed(skill_messages.may_install(escaped(candidate.name), is_update=is_update)):
            print(skill_messages.NOTHING_UPDATED if is_update else skill_messages.NOTHING_INSTALLED)
            return 1
    hub.install(candidate)
    print(skill_messages.installed(bold(escaped(candidate.name)), is_update=is_update))
    return 0


def _show(candidate: "SkillCandidate", locked: "LockEntry | None") -> None:
    print(f"{bold(escaped(candidate.name))}: {escaped(candidate.description)}")
    print(skill_messages.from_source(escaped(candidate.source.text), candidate.commit))
    if candidate.is_installed and locked and (versions := versions_line(candidate, locked)):
        print(escaped(versions))
    print(skill_messages.in_quarantine(escaped(candidate.place)))
    for path, blob in sorted(candidate.files.items()):
        is_program = f"program {path}" in candidate.capabilities
        print(f"  {skill_messages.file_line(escaped(path), len(blob.content), is_program=is_program)}")
    if candidate.is_installed:
        for line in change_lines(candidate):
            print(line)
    for capability in candidate.capabilities:
        is_new = capability in candidate.gained
        print(f"{'!' if is_new else ' '} {skill_messages.capability(escaped(capability), is_new=is_new)}")
    for finding in (*candidate.check.faults, *candidate.check.warnings):
        print(f"! {escaped(finding)}")
