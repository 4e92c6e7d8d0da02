"""hermes-acp skills install, update, audit, remove: skills from elsewhere, approved by a person.

Knows: what that person is shown before they agree. Does not know: how a skill is fetched, scanned or pinned.
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hermes_acp.config.environment import Environment
from hermes_acp.core.errors import BadRequest
from hermes_acp.frontends.cli.cli_output import bold, escaped, local_time, note

if TYPE_CHECKING:
    from hermes_acp.skills.skill_hub import SkillCandidate, SkillHub
    from hermes_acp.skills.skill_usage import SkillUsageTracker

SOURCE: Final = "GIT_URL[#path][@branch, tag or commit], or a folder"
SCRIPTS: Final = (".bash", ".bat", ".cmd", ".js", ".mjs", ".pl", ".ps1", ".py", ".rb", ".sh", ".ts", ".zsh")


def add_hub(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Describe the subcommands and their flags; `add` gives the parser of one."""
    install = add("install", help="fetch a skill, show what is in it, and install it if you agree")
    install.add_argument("source", metavar="SOURCE", help=SOURCE)
    update = add("update", help="fetch installed skills again; show what changed, and install it")
    audit = add("audit", help="compare installed skills with what you approved; scan them again")
    remove = add("remove", help="put an installed skill away; its versions are kept")
    for action in (update, audit):
        action.add_argument("name", nargs="*", metavar="NAME", help="installed skills (default: all)")
    remove.add_argument("name", metavar="NAME", help="an installed skill")
    for action in (install, update):
        action.add_argument(
            "--yes", action="store_true", help="agree beforehand, unless something was found in it"
        )


def run_hub(environment: Environment, place: Path, options: argparse.Namespace) -> int:
    """Do what was asked; give the exit code."""
    from hermes_acp.skills.skill_hub import SkillHub, read_source
    from hermes_acp.world import SystemClock

    search_path = environment.variables.get("PATH", "")
    hub = SkillHub(environment.home, practice_of(environment), SystemClock().now, search_path)
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
            print(
                f"{escaped(options.name)} was put away. `hermes-acp skills rollback {escaped(options.name)}` brings it "
                "back, as one of your own."
            )
            return 0


def practice_of(environment: Environment) -> "SkillUsageTracker":
    """Return the books on the uses of skills."""
    from hermes_acp.skills.skill_usage import SkillUsageTracker
    from hermes_acp.world import SystemClock

    return SkillUsageTracker(environment.home, SystemClock().now)


def _named(hub: "SkillHub", options: argparse.Namespace) -> list[str]:
    names = options.name or sorted(hub.installed())
    if not names:
        note("No skill was installed from elsewhere.")
    return names


def _try_update(hub: "SkillHub", name: str, options: argparse.Namespace) -> int:
    """Update one of several skills; one that cannot be had does not keep the others back."""
    try:
        return _update(hub, name, options)
    except BadRequest as error:
        note(f"{name}: {error.sentence()}")
        return error.exit_code


def _update(hub: "SkillHub", name: str, options: argparse.Namespace) -> int:
    source = hub.find(name).source
    with hub.fetched(source) as candidate:
        if candidate.name != name:
            raise BadRequest(
                f"{source.text} calls itself {candidate.name} now.", hint="Install it under that name."
            )
        if not candidate.is_new:
            print(f"{bold(escaped(name))}: nothing new")
            return 0
        return _decide(hub, candidate, is_agreed=options.yes)


def _audit(hub: "SkillHub", name: str) -> int:
    audit = hub.audit(name)
    locked = audit.locked
    state = "not as approved" if audit.troubles else "as approved"
    commit = f" at {locked.commit[:12]}" if locked.commit else ""
    where = f"{escaped(locked.source.text)}{commit}, {local_time(locked.installed_at)}"
    print(f"{bold(escaped(name))}: {state} ({where})")
    for sentence in (*audit.troubles, *audit.warnings):
        print(f"  {escaped(sentence)}")
    return 1 if audit.troubles else 0


def _decide(hub: "SkillHub", candidate: "SkillCandidate", *, is_agreed: bool) -> int:
    """Show a skill, and install it where its person agrees; give the exit code, 1 where they do not."""
    _show(candidate)
    if candidate.check.faults:
        raise BadRequest(f"{candidate.name} is not installed: {' '.join(candidate.check.faults)}")
    has_findings = bool(candidate.check.warnings)
    if not (is_agreed and not has_findings):
        if not sys.stdin.isatty():
            hint = "Install it at a terminal." if has_findings else "Use --yes, or install it at a terminal."
            raise BadRequest("Somebody has to agree to this, and nobody can be asked here.", hint=hint)
        answer = input(
            f"Install {escaped(candidate.name)}? Its text will be read by the agent as yours. [y/N] "
        )
        if answer.strip().lower() not in ("y", "yes"):
            print("Nothing was installed.")
            return 1
    hub.install(candidate)
    print(f"{bold(escaped(candidate.name))} is installed.")
    return 0


def _show(candidate: "SkillCandidate") -> None:
    print(f"{bold(escaped(candidate.name))}: {escaped(candidate.description)}")
    pinned = f", commit {candidate.commit}" if candidate.commit else ""
    print(f"from {escaped(candidate.source.text)}{pinned}")
    print(f"in quarantine at {escaped(candidate.place)}")
    for path, blob in sorted(candidate.files.items()):
        runs = " (a program)" if blob.is_executable or path.endswith(SCRIPTS) else ""
        print(f"  {escaped(path)}, {len(blob.content):,} bytes{runs}")
    if candidate.is_installed:
        for change in candidate.changes:
            print(f"  {escaped(change)}")
    for finding in (*candidate.check.faults, *candidate.check.warnings):
        print(f"! {escaped(finding)}")
