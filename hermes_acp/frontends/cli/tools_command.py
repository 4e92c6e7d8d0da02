"""The `hermes-acp tools` command: list custom tools, check and trust them, show versions, roll back."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from hermes_acp.config.environment import read_environment
from hermes_acp.core.errors import BadRequest
from hermes_acp.core.ports.custom_tool_ports import ToolChange
from hermes_acp.frontends.cli.cli_output import bold, escaped, local_time, print_json
from hermes_acp.frontends.cli.messages import command_messages, tool_messages

if TYPE_CHECKING:
    from hermes_acp.tools.custom.custom_tool_manager import CustomToolManager
    from hermes_acp.tools.custom.tool_folders import ToolFile

Standing = Literal["faulty", "not_trusted", "put_aside", "ready"]


def add_tools(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands and their flags to the parser."""
    actions = parser.add_subparsers(dest="action", metavar="COMMAND", parser_class=type(parser))
    _with_cwd(parser, ".")
    _with_json(parser, is_given=False)
    listing = actions.add_parser("list", help=tool_messages.LIST_HELP)
    _with_cwd(listing)
    check = actions.add_parser("check", help=tool_messages.CHECK_HELP)
    check.add_argument("file", metavar="FILE", help=tool_messages.FILE_HELP)
    allow = actions.add_parser("allow", help=tool_messages.ALLOW_HELP)
    history = actions.add_parser("history", help=tool_messages.HISTORY_HELP)
    rollback = actions.add_parser("rollback", help=tool_messages.ROLLBACK_HELP)
    for each in (allow, history, rollback):
        each.add_argument("name", metavar="NAME", help=tool_messages.NAME_HELP)
        _with_cwd(each)
    for each in (listing, history):
        _with_json(each)
    rollback.add_argument(
        "version",
        nargs="?",
        type=int,
        default=0,
        metavar="VERSION",
        help=tool_messages.VERSION_HELP,
    )


def _with_cwd(parser: argparse.ArgumentParser, default: str = argparse.SUPPRESS) -> None:
    parser.add_argument(
        "--cwd",
        default=default,
        metavar="PATH",
        help=tool_messages.CWD_HELP,
    )


def _with_json(parser: argparse.ArgumentParser, *, is_given: bool | str = argparse.SUPPRESS) -> None:
    parser.add_argument("--json", action="store_true", default=is_given, help=command_messages.JSON_HELP)


def run_tools(options: argparse.Namespace) -> int:
    """Run the subcommand and return the exit code."""
    from hermes_acp.app.service_factories import custom_tools_of

    if options.action == "check":
        return _check(Path(options.file))
    custom_tools = custom_tools_of(read_environment())
    cwd = str(Path(options.cwd).resolve())
    match options.action:
        case "allow":
            _allow(custom_tools, cwd, options.name)
        case "history":
            _show_history(custom_tools, cwd, options.name, as_json=options.json)
        case "rollback":
            _roll_back(custom_tools, cwd, options.name, options.version)
        case _:
            _list(custom_tools, cwd, as_json=options.json)
    return 0


def _list(custom_tools: "CustomToolManager", cwd: str, *, as_json: bool) -> None:
    files = custom_tools.files(cwd)
    if as_json:
        print_json([_entry(custom_tools, file, cwd) for file in files])
        return
    if not files:
        tool_folders = custom_tools.tool_folders
        home, workspace = tool_folders.folder("user", cwd), tool_folders.folder("workspace", cwd)
        print(tool_messages.no_tools(str(home), str(workspace)))
    for file in files:
        whose = tool_messages.YOURS if file.scope == "user" else tool_messages.OF_THE_WORKSPACE
        print(f"{bold(escaped(file.name))} ({whose}): {_state(custom_tools, file, cwd)}")
        if file.declaration:
            print(f"  {escaped(file.declaration.description)}")
            print(f"  {escaped(file.declaration.abilities())}")
        tool_failure = custom_tools.tool_failures.of(file.folder, file.name, file.digest)
        if tool_failure:
            last = tool_failure.error.strip().rpartition("\n")[2]
            print(f"  {tool_messages.failures(tool_failure.in_a_row, escaped(last))}")


def _entry(custom_tools: "CustomToolManager", file: "ToolFile", cwd: str) -> dict[str, object]:
    declaration = file.declaration
    return {
        "name": file.name,
        "scope": file.scope,
        "path": str(file.path),
        "state": _standing(custom_tools, file, cwd),
        "description": declaration.description if declaration else "",
        "abilities": declaration.abilities() if declaration else "",
        "faults": [fault.told(file.path.name) for fault in file.checked.faults],
    }


def _state(custom_tools: "CustomToolManager", file: "ToolFile", cwd: str) -> str:
    match _standing(custom_tools, file, cwd):
        case "faulty":
            return tool_messages.invalid(escaped(file.checked.faults[0].told(file.path.name)))
        case "not_trusted":
            return tool_messages.not_trusted(escaped(file.name))
        case "put_aside":
            return tool_messages.DISABLED
        case "ready":
            return tool_messages.READY


def _standing(custom_tools: "CustomToolManager", file: "ToolFile", cwd: str) -> Standing:
    if file.declaration is None:
        return "faulty"
    if not custom_tools.is_trusted(file, cwd):
        return "not_trusted"
    tool_failure = custom_tools.tool_failures.of(file.folder, file.name, file.digest)
    return "put_aside" if tool_failure and tool_failure.is_disabled else "ready"


def _check(path: Path) -> int:
    from hermes_acp.tools.custom.tool_folders import read_tool_file

    try:
        file = read_tool_file(path)
    except OSError as error:
        raise BadRequest(tool_messages.file_unreadable(str(path), error.strerror or str(error))) from error
    for fault in file.checked.faults:
        print(escaped(fault.told(str(path))))
    if file.declaration is None:
        return 1
    print(tool_messages.valid(escaped(str(path)), escaped(file.declaration.abilities())))
    return 0


def _allow(custom_tools: "CustomToolManager", cwd: str, name: str) -> None:
    file = next((each for each in custom_tools.files(cwd) if each.name == name), None)
    if file is None or file.declaration is None:
        raise BadRequest(tool_messages.no_tool(name), hint=tool_messages.LIST_HINT)
    custom_tools.allow(file, cwd)
    print(tool_messages.trusted(escaped(str(file.path)), escaped(file.declaration.abilities())))


def _show_history(custom_tools: "CustomToolManager", cwd: str, name: str, *, as_json: bool) -> None:
    versions = custom_tools.workshop.versions(cwd, name)
    if not versions:
        raise BadRequest(tool_messages.no_version(name))
    if as_json:
        print_json(versions[::-1])
        return
    for each in reversed(versions):
        cause = each.cause
        when, why, session_id = local_time(cause.at), escaped(cause.why), escaped(cause.session_id)
        is_archived = not each.file
        print(
            tool_messages.version_line(each.number, when, cause.who, why, session_id, is_archived=is_archived)
        )


def _roll_back(custom_tools: "CustomToolManager", cwd: str, name: str, version: int) -> None:
    import anyio

    workshop = custom_tools.workshop
    change = ToolChange("rollback", name, tool_messages.ROLLED_BACK, version=version)
    preview = anyio.run(workshop.preview, cwd, change)
    print(escaped(workshop.change_now(cwd, change, preview, "user")))
