"""The `hermes-acp doctor` command: check the model, the stored data, this installation and this machine.

The exit code is 4 if there is a problem.
"""

import argparse
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from hermes_acp import __version__
from hermes_acp.config.environment import Environment, read_environment
from hermes_acp.core.errors import ConfigError
from hermes_acp.core.exit_codes import ExitCode
from hermes_acp.frontends.cli.cli_output import bold, escaped, note, print_json
from hermes_acp.frontends.cli.doctor.doctor_findings import Finding
from hermes_acp.frontends.cli.messages import command_messages, doctor_messages

if TYPE_CHECKING:
    from hermes_acp.storage.session_store import SessionStore


def add_doctor(parser: argparse.ArgumentParser) -> None:
    """Add the flags to the parser."""
    parser.add_argument(
        "--rebuild",
        action="store_true",
        help=doctor_messages.REBUILD_HELP,
    )
    parser.add_argument("--online", action="store_true", help=doctor_messages.ONLINE_HELP)
    parser.add_argument("--json", action="store_true", help=command_messages.JSON_HELP)


def run_doctor(options: argparse.Namespace) -> int:
    """Print the findings and return the exit code."""
    import anyio

    return anyio.run(_run, options)


async def _run(options: argparse.Namespace) -> int:
    findings: list[Finding] = []
    async for finding in _findings(options):
        findings.append(finding)
        if not options.json:
            _print_finding(finding)
    if options.json:
        print_json({"version": __version__, "findings": findings})
    return ExitCode.STORAGE if any(each.level == "problem" for each in findings) else ExitCode.DONE


async def _findings(options: argparse.Namespace) -> AsyncIterator[Finding]:
    """Yield the findings of all checks. If the home folder is unusable, nothing else is checked."""
    from hermes_acp.frontends.cli.doctor.all_checks import all_findings

    try:
        environment = read_environment()
    except ConfigError as error:
        yield Finding("settings", "problem", error.message, error.hint)
        return
    if options.rebuild:
        await _rebuild(environment)
    async for finding in all_findings(environment, is_online=options.online):
        yield finding


def _print_finding(finding: Finding) -> None:
    label = f"{doctor_messages.LEVELS[finding.level]:<7}"
    text = escaped(f"{finding.text} {finding.hint}".rstrip())
    print(f"{bold(label) if finding.level == 'problem' else label}  {text}", flush=True)


async def _rebuild(environment: Environment) -> None:
    from hermes_acp.storage.session_store import SessionStore

    store = SessionStore(environment.home)
    try:
        await store.rebuild()
        await _rebuild_meaning(environment, store)
    finally:
        for sentence in store.news():
            note(sentence)
        store.close()


async def _rebuild_meaning(environment: Environment, store: "SessionStore") -> None:
    """Rebuild the semantic index if `recall.embeddings` is set; a failure is only reported."""
    from hermes_acp.app.service_factories import recall_by_settings
    from hermes_acp.core.errors import ModelError, StorageError

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
