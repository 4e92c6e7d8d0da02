"""The `hermes-acp doctor` command: check the model, the stored data, and whether commands can be sandboxed.

A problem is exit code 4.
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_acp.config.environment import Environment, read_environment
from hermes_acp.config.home_folders import DEFAULT_PROFILE
from hermes_acp.core.exit_codes import ExitCode
from hermes_acp.frontends.cli.cli_output import bold, escaped, note
from hermes_acp.frontends.cli.doctor.hook_check import check_hooks
from hermes_acp.frontends.cli.doctor.model_check import check_model
from hermes_acp.frontends.cli.doctor.notification_check import check_notifications
from hermes_acp.frontends.cli.messages import doctor_messages

if TYPE_CHECKING:
    from hermes_acp.config.settings import Settings
    from hermes_acp.storage.session_store import SessionStore


def add_doctor(parser: argparse.ArgumentParser) -> None:
    """Describe the flags."""
    parser.add_argument(
        "--rebuild",
        action="store_true",
        help=doctor_messages.REBUILD_HELP,
    )
    parser.add_argument("--online", action="store_true", help=doctor_messages.ONLINE_HELP)


def run_doctor(options: argparse.Namespace) -> int:
    """Print the findings and return the exit code."""
    import anyio

    return anyio.run(_run, options)


async def _rebuild_meaning(environment: Environment, store: "SessionStore") -> None:
    """Rebuild the vectors if `recall.embeddings` is set; without its model, everything else still works."""
    from hermes_acp.app.service_factories import recall_by_settings
    from hermes_acp.core.errors import ConfigError, ModelError, StorageError

    try:
        async with recall_by_settings(environment, store) as recall_service:
            left = await recall_service.rebuild()
            sentences = [*recall_service.news()]
    except (ConfigError, ModelError, StorageError) as error:
        sentences, left = [doctor_messages.not_embedded(error.sentence())], 0
    if left:
        sentences.append(doctor_messages.embedded_later(left))
    for sentence in sentences:
        note(sentence)


def _settings(environment: Environment) -> "Settings | None":
    """Return the settings, or None if they cannot be read, which other checks report."""
    from hermes_acp.config.settings import load_settings
    from hermes_acp.core.errors import ConfigError

    try:
        return load_settings(environment)
    except ConfigError:
        return None


async def _run(options: argparse.Namespace) -> int:
    from anyio import to_thread

    from hermes_acp.config.sections.checkpoint_settings import CheckpointSettings
    from hermes_acp.sessions.checkpoint_service import checkpoint_setup
    from hermes_acp.storage.checkpoints.checkpoint_checks import check_checkpoints
    from hermes_acp.storage.session_store import SessionStore
    from hermes_acp.storage.storage_checks import run_checks
    from hermes_acp.workspaces.sandbox_setup import sandbox_here, sandbox_notice

    environment = read_environment()
    home = environment.home
    if options.rebuild:
        store = SessionStore(home)
        try:
            await store.rebuild()
            await _rebuild_meaning(environment, store)
        finally:
            for sentence in store.news():
                note(sentence)
            store.close()
    if environment.profile != DEFAULT_PROFILE:
        _print_finding("fine", doctor_messages.profile_in_use(environment.profile, environment.keys_profile))
    about_model = await check_model(environment, is_online=options.online)
    for finding in about_model:
        _print_finding(finding.level, escaped(finding.text))
    about_hooks = await to_thread.run_sync(check_hooks, environment, str(Path().resolve()))
    for sentence in about_hooks:
        _print_finding("problem", escaped(sentence))
    about_notifications = await to_thread.run_sync(check_notifications, environment)
    for level, sentence in about_notifications:
        _print_finding(level, escaped(sentence))
    setup = checkpoint_setup(environment, CheckpointSettings())
    findings = await to_thread.run_sync(lambda: [*run_checks(home), *check_checkpoints(setup)])
    for finding in findings:
        _print_finding(finding.level, f"{escaped(finding.text)} {finding.hint}".rstrip())
    found = await to_thread.run_sync(sandbox_here, _settings(environment), environment.variables)
    remark = sandbox_notice(found)
    _print_finding("note" if remark else "fine", remark or doctor_messages.SANDBOXED)
    levels = (
        *(each.level for each in (*about_model, *findings)),
        *(level for level, _ in about_notifications),
    )
    has_problem = about_hooks or "problem" in levels
    return ExitCode.STORAGE if has_problem else ExitCode.DONE


def _print_finding(level: str, text: str) -> None:
    label = f"{doctor_messages.LEVELS[level]:<7}"
    print(f"{bold(label) if level == 'problem' else label}  {text}")
