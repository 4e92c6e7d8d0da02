"""The `hermes-acp hooks` command: list the hooks of a folder, try them, and import those of other agents.

The exit code is 1 if a hook fails in a trial.
"""

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_acp.config.environment import read_environment
from hermes_acp.frontends.cli.cli_output import bold, escaped, print_json
from hermes_acp.frontends.cli.messages import command_messages, hook_messages
from hermes_acp.frontends.command_line.line_input import is_agreed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hermes_acp.core.event_types import ToolKind
    from hermes_acp.hooks.hook_answers import HookAnswer
    from hermes_acp.hooks.hook_catalog import HookCatalog, ListedHook
    from hermes_acp.hooks.hook_definitions import CallSubject


def add_hooks(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands and their flags to the parser."""
    parser.set_defaults(action="list", cwd=".", json=False)
    actions = parser.add_subparsers(dest="action", metavar="COMMAND", parser_class=type(parser))
    listing = actions.add_parser("list", help=hook_messages.LIST_HELP)
    listing.add_argument("--json", action="store_true", help=command_messages.JSON_HELP)
    trial = actions.add_parser("test", help=hook_messages.TEST_HELP)
    trial.add_argument("event", metavar="EVENT", help=hook_messages.EVENT_HELP)
    trial.add_argument("--name", default="", help=hook_messages.NAME_HELP)
    trial.add_argument("--tool", default="edit_file", help=hook_messages.TOOL_HELP)
    trial.add_argument("--path", action="append", default=[], help=hook_messages.PATH_HELP)
    copying = actions.add_parser("import", help=hook_messages.IMPORT_HELP)
    copying.add_argument(
        "agent", nargs="?", metavar="AGENT", choices=("claude", "codex"), help=hook_messages.AGENT_HELP
    )
    copying.add_argument("--yes", action="store_true", help=hook_messages.YES_HELP)
    for each in (listing, trial):
        each.add_argument("--cwd", default=".", metavar="PATH", help=hook_messages.CWD_HELP)


def run_hooks(options: argparse.Namespace) -> int:
    """Run the subcommand and return the exit code."""
    if options.action == "import":
        return _import(options)
    import anyio

    from hermes_acp.app.service_factories import hooks_of

    catalog, hooks = hooks_of(read_environment(), str(Path(options.cwd).resolve()))
    if options.action == "test":
        return anyio.run(_try, catalog, hooks, options)
    if options.json:
        print_json([_entry(each) for each in hooks])
        return 0
    if not hooks:
        print(hook_messages.NO_HOOKS)
    for each in hooks:
        _print(each)
    return 0


def _import(options: argparse.Namespace) -> int:
    """Copy hooks of other agents to the settings if the user agrees; return the exit code, which is 1 if not."""
    from hermes_acp.config.settings import load_settings
    from hermes_acp.config.settings_text import read_text
    from hermes_acp.core.errors import BadRequest
    from hermes_acp.hooks.hook_import import AGENTS, find_hooks, with_hooks
    from hermes_acp.storage.private_files import write_private_text

    environment = read_environment()
    found = find_hooks(
        environment, load_settings(environment).hooks, (options.agent,) if options.agent else AGENTS
    )
    new = [each for each in found if each.is_new]
    for each in found:
        state = each.fault or (hook_messages.KNOWN if each.is_known else "")
        print(hook_messages.found_hook(bold(escaped(each.name)), escaped(each.file), escaped(state)))
        if each.is_new and (settings := each.settings):
            print(f"  {hook_messages.occasion(settings.event, escaped(', '.join(settings.tools)))}")
            print(f"  {escaped(settings.command)}")
    if not new:
        print(hook_messages.NOTHING_TO_IMPORT)
        return 0
    file = environment.config_file
    if not options.yes:
        if not sys.stdin.isatty():
            raise BadRequest(hook_messages.IMPORT_NEEDS_YES, hint=hook_messages.IMPORT_HINT)
        if not is_agreed(hook_messages.may_import(len(new), escaped(str(file)))):
            print(hook_messages.NOTHING_IMPORTED)
            return 1
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_private_text(file, with_hooks(read_text(file), new))
    print(hook_messages.imported(len(new), escaped(str(file))))
    return 0


def _print(listed: "ListedHook") -> None:
    hook = listed.hook
    states = [
        *([] if listed.is_enabled else [hook_messages.OFF]),
        *([] if listed.is_trusted else [hook_messages.NOT_TRUSTED]),
    ]
    whose = hook_messages.OF_THE_PROJECT if hook.entry else hook_messages.YOURS
    print(hook_messages.heading(bold(escaped(hook.name)), whose, ", ".join(states)))
    print(f"  {hook_messages.occasion(hook.event, escaped(', '.join(hook.patterns)))}")
    print(f"  {escaped(hook.command)}")
    if listed.fault:
        print(f"  {hook_messages.broken(escaped(listed.fault))}")


def _entry(listed: "ListedHook") -> dict[str, object]:
    hook = listed.hook
    return {
        "name": hook.name,
        "event": hook.event,
        "command": hook.command,
        "patterns": hook.patterns,
        "scope": "workspace" if hook.entry else "user",
        "enabled": listed.is_enabled,
        "trusted": listed.is_trusted,
        "fault": listed.fault,
    }


async def _try(catalog: "HookCatalog", hooks: "Sequence[ListedHook]", options: argparse.Namespace) -> int:
    from hermes_acp.config.sections.hook_settings import EVENTS, TOOL_EVENTS
    from hermes_acp.core.errors import BadRequest, HermesError
    from hermes_acp.hooks.hook_answers import HookAnswer

    if options.event not in EVENTS:
        raise BadRequest(hook_messages.unknown_event(options.event), hint=hook_messages.events(EVENTS))
    due = [
        each.hook
        for each in hooks
        if each.hook.event == options.event and each.is_enabled and each.is_trusted
        if options.name in ("", each.hook.name)
    ]
    if not due:
        print(hook_messages.no_hooks_for(options.event))
    subject = _subject(catalog.cwd, options.tool, options.path)
    has_failed = False
    for hook in due:
        if hook.event in TOOL_EVENTS and not hook.applies_to(subject, (catalog.cwd,)):
            print(hook_messages.tried(escaped(hook.name), hook_messages.NOT_APPLICABLE))
            continue
        try:
            answer = await catalog.try_hook(hook, subject)
        except HermesError as error:
            answer = HookAnswer(failure=error.message.rstrip("."))
        has_failed = has_failed or bool(answer.failure)
        print(hook_messages.tried(bold(escaped(hook.name)), escaped(_outcome(answer))))
    return 1 if has_failed else 0


def _outcome(answer: "HookAnswer") -> str:
    if answer.failure:
        return hook_messages.failed(answer.failure)
    if answer.refusal:
        return hook_messages.refused(answer.refusal)
    return hook_messages.said(answer.context) if answer.context else hook_messages.NOTHING


def _subject(cwd: str, tool: str, paths: list[str]) -> "CallSubject":
    from hermes_acp.hooks.hook_definitions import CallSubject

    return CallSubject(tool, _kind_of(tool), tuple(os.path.join(cwd, path) for path in paths))


def _kind_of(tool: str) -> "ToolKind":
    """Return the kind of a built-in tool; every other tool counts as `other`."""
    from hermes_acp.core.plugins import PluginFolder

    folder: PluginFolder[object] = PluginFolder("hermes_acp.tools.builtin", "TOOL")
    return getattr(folder.open(tool), "kind", "other") if tool in folder else "other"
