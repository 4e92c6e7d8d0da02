"""The `hermes-acp skills taps` and `publish` commands, for skill repositories with a signed index."""

import argparse
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_acp.config.environment import Environment
from hermes_acp.core.errors import BadRequest
from hermes_acp.frontends.cli.cli_output import bold, escaped, local_time, note, print_json
from hermes_acp.frontends.cli.messages import command_messages
from hermes_acp.frontends.cli.skills import messages as tap_messages
from hermes_acp.frontends.command_line.line_input import is_agreed

if TYPE_CHECKING:
    from hermes_acp.skills.taps.tap_publisher import Publication
    from hermes_acp.skills.taps.tap_service import TapService


def add_taps(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the subcommands and their flags; `add` returns a subcommand's parser."""
    taps = add("taps", help=tap_messages.TAPS_HELP)
    actions = taps.add_subparsers(dest="tap_action", metavar="ACTION", parser_class=type(taps))
    adding = actions.add_parser("add", help=tap_messages.ADD_HELP)
    adding.add_argument("url", metavar="URL", help=tap_messages.URL_HELP)
    adding.add_argument("--name", default="", metavar="NAME", help=tap_messages.NAME_HELP)
    adding.add_argument("--yes", action="store_true", help=tap_messages.YES_HELP)
    listing = actions.add_parser("list", help=tap_messages.LIST_HELP)
    listing.add_argument("--json", action="store_true", help=command_messages.JSON_HELP)
    updating = actions.add_parser("update", help=tap_messages.UPDATE_HELP)
    updating.add_argument("name", nargs="*", metavar="NAME", help=tap_messages.NAMES_HELP)
    removing = actions.add_parser("remove", help=tap_messages.REMOVE_HELP)
    removing.add_argument("name", metavar="NAME", help=tap_messages.KNOWN_NAME_HELP)
    rotating = actions.add_parser("rotate", help=tap_messages.ROTATE_HELP)
    rotating.add_argument("--new-key", required=True, metavar="FILE", help=tap_messages.NEW_KEY_HELP)
    revoking = actions.add_parser("revoke", help=tap_messages.REVOKE_HELP)
    for changing in (rotating, revoking):
        changing.add_argument("name", metavar="TAP", help=tap_messages.TO_HELP)
        changing.add_argument("--key", metavar="FILE", help=tap_messages.KEY_HELP)
        changing.add_argument("--yes", action="store_true", help=tap_messages.CHANGE_YES_HELP)
    publish = add("publish", help=tap_messages.PUBLISH_HELP)
    publish.add_argument("folder", metavar="FOLDER", help=tap_messages.FOLDER_HELP)
    publish.add_argument("--to", required=True, metavar="TAP", help=tap_messages.TO_HELP)
    publish.add_argument("--key", metavar="FILE", help=tap_messages.KEY_HELP)
    publish.add_argument("--yes", action="store_true", help=tap_messages.PUBLISH_YES_HELP)


def taps_of(environment: Environment) -> "TapService":
    """Return the taps of a home folder."""
    from hermes_acp.clock import SystemClock
    from hermes_acp.skills.taps.tap_service import TapService

    return TapService(environment.home, SystemClock().now, environment.variables.get("PATH", ""))


def run_taps(environment: Environment, place: Path, options: argparse.Namespace) -> int:
    """Run the subcommand and return the exit code."""
    taps = taps_of(environment)
    if options.action == "publish":
        return _publish(environment, taps, place, options)
    match options.tap_action:
        case "add":
            return _add(taps, place, options)
        case "update":
            with showing_key_changes(taps):
                return max(
                    (_try_refresh(taps, name) for name in options.name or taps.store.taps()), default=0
                )
        case "rotate" | "revoke":
            return _change_key(environment, taps, place, options)
        case "remove":
            taps.remove(options.name)
            print(tap_messages.removed(escaped(options.name)))
            return 0
        case _:
            return _list(taps, as_json=bool(getattr(options, "json", False)))


def _add(taps: "TapService", place: Path, options: argparse.Namespace) -> int:
    from hermes_acp.skills.taps.commit_signatures import fingerprint

    folder = (place / options.url).resolve()
    candidate = taps.candidate(folder.as_uri() if folder.is_dir() else options.url, options.name)
    tap = candidate.tap
    name = escaped(candidate.name)
    print(tap_messages.offered(bold(name), escaped(tap.url), len(tap.index.skills), tap.index.serial))
    print(tap_messages.signed_by(fingerprint(tap.key)))
    if not options.yes and not _agrees(tap_messages.may_trust(name), tap_messages.TRUST_NEEDED):
        print(tap_messages.NOTHING_ADDED)
        return 1
    taps.add(candidate)
    print(tap_messages.added(bold(name)))
    return 0


def _list(taps: "TapService", *, as_json: bool) -> int:
    from hermes_acp.skills.taps.commit_signatures import fingerprint

    known = taps.store.taps()
    if as_json:
        print_json(known)
        return 0
    if not known:
        note(tap_messages.NO_TAPS)
    for name, tap in known.items():
        print(
            tap_messages.tap_line(
                bold(escaped(name)),
                escaped(tap.url),
                len(tap.index.skills),
                fingerprint(tap.key),
                is_revoked=tap.is_revoked,
            )
        )
        for former in tap.former_keys:
            when = local_time(former.replaced_at)
            print(f"  {tap_messages.former_key(fingerprint(former.key), when)}")
    return 0


@contextmanager
def showing_key_changes(taps: "TapService") -> Generator[None]:
    """Tell the user about each tap whose key changes during the block."""
    from hermes_acp.skills.taps.commit_signatures import fingerprint

    before = taps.store.taps()
    try:
        yield
    finally:
        for name, tap in taps.store.taps().items():
            if name in before and before[name].key != tap.key:
                old, new = fingerprint(before[name].key), fingerprint(tap.key)
                note(tap_messages.key_changed(name, old, new))


def _try_refresh(taps: "TapService", name: str) -> int:
    """Refresh one of several taps; report a failure, so that the others are still refreshed."""
    try:
        tap = taps.refresh(name)
    except BadRequest as error:
        note(tap_messages.refresh_failed(name, error.sentence()))
        return error.exit_code
    print(tap_messages.refreshed(bold(escaped(name)), len(tap.index.skills), tap.index.serial))
    return 0


def _publish(environment: Environment, taps: "TapService", place: Path, options: argparse.Namespace) -> int:
    from hermes_acp.skills.taps.tap_publisher import TapPublisher, publication

    skill = publication((place / options.folder).resolve())
    url = taps.address(options.to, place)
    _show(skill)
    if skill.check.warnings and options.yes:
        raise BadRequest(tap_messages.WARNINGS, hint=tap_messages.WARNINGS_HINT)
    if not options.yes and not _agrees(tap_messages.may_publish(escaped(skill.name), escaped(url)), ""):
        print(tap_messages.NOTHING_PUBLISHED)
        return 1
    with taps.workshop() as (git, folder):
        publisher = TapPublisher(git, folder, _key_file(environment, place, options), taps.search_path)
        done = publisher.publish(url, skill)
    print(tap_messages.published(bold(escaped(skill.name)), done.version, done.serial, done.commit))
    return 0


def _change_key(
    environment: Environment, taps: "TapService", place: Path, options: argparse.Namespace
) -> int:
    from hermes_acp.skills.taps.commit_signatures import fingerprint
    from hermes_acp.skills.taps.tap_publisher import TapPublisher, public_key

    url = taps.address(options.name, place)
    key_file = _key_file(environment, place, options)
    old = fingerprint(public_key(key_file))
    new_file = (place / options.new_key).resolve() if options.tap_action == "rotate" else None
    new = fingerprint(public_key(new_file)) if new_file else ""
    shown = escaped(url)
    question = tap_messages.may_rotate(shown, old, new) if new else tap_messages.may_revoke(shown, old)
    if not options.yes and not _agrees(question, tap_messages.CHANGE_NEEDED):
        print(tap_messages.NOTHING_CHANGED)
        return 1
    with taps.workshop() as (git, folder):
        publisher = TapPublisher(git, folder, key_file, taps.search_path)
        done = publisher.rotate(url, new_file) if new_file else publisher.revoke(url)
    print(tap_messages.rotated(shown, new, done.serial) if new else tap_messages.revoked(shown, done.serial))
    return 0


def _key_file(environment: Environment, place: Path, options: argparse.Namespace) -> Path:
    """Return the path of the private key to sign with: the one that the user names, or the default one."""
    user_home = environment.variables.get("HOME", "")
    key_file = Path(options.key) if options.key else Path(user_home, ".ssh", "id_ed25519")
    return (place / key_file).resolve()


def _show(skill: "Publication") -> None:
    print(f"{bold(escaped(skill.name))}: {escaped(skill.description)}")
    for path, blob in sorted(skill.files.items()):
        print(f"  {tap_messages.file_line(escaped(path), len(blob.content))}")
    for capability in skill.capabilities:
        print(f"  {tap_messages.capability(escaped(capability))}")
    for finding in (*skill.check.faults, *skill.check.warnings):
        print(f"! {escaped(finding)}")


def _agrees(question: str, reason: str) -> bool:
    """Ask the user whether to continue. Raises BadRequest if there is no terminal to ask in."""
    if not can_ask():
        raise BadRequest(reason or tap_messages.PUBLISH_NEEDED, hint=tap_messages.USE_YES_HINT)
    return is_agreed(question)


def can_ask() -> bool:
    """Return whether there is a terminal to ask in."""
    return sys.stdin.isatty()
