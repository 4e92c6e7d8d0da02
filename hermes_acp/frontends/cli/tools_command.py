"""hermes-acp tools: the tools that you or your agent wrote: what they may do, how they stand, their versions.

Knows: how these are shown. Does not know: what makes a file a tool, where versions are kept.
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from hermes_acp.config.environment import read_environment
from hermes_acp.core.custom_tools import ToolChange
from hermes_acp.core.errors import BadRequest
from hermes_acp.frontends.cli.cli_output import bold, escaped, local_time, print_json

if TYPE_CHECKING:
    from hermes_acp.tools.custom.custom_tool_manager import CustomToolManager
    from hermes_acp.tools.custom.tool_folders import ToolFile

Standing = Literal["faulty", "not_trusted", "put_aside", "ready"]
NOTHING = "There are no own tools: none in {home}, none in {place}."


def add_tools(parser: argparse.ArgumentParser) -> None:
    """Describe the subcommands and their flags."""
    wishes = parser.add_subparsers(dest="wish", metavar="COMMAND", parser_class=type(parser))
    _with_cwd(parser, ".")
    _with_json(parser, is_given=False)
    listing = wishes.add_parser("list", help="show each tool with its state (the default)")
    _with_cwd(listing)
    check = wishes.add_parser("check", help="say whether a file is a tool, and what keeps it from being one")
    check.add_argument("file", metavar="FILE", help="a Python file; it is only read")
    allow = wishes.add_parser("allow", help="trust a tool as it is now; use one again that was put aside")
    history = wishes.add_parser("history", help="show the versions of a tool: who made them, when and why")
    rollback = wishes.add_parser(
        "rollback", help="go back to an earlier version, also of one that was put away"
    )
    for each in (allow, history, rollback):
        each.add_argument("name", metavar="NAME", help="the tool")
        _with_cwd(each)
    for each in (listing, history):
        _with_json(each)
    rollback.add_argument(
        "version",
        nargs="?",
        type=int,
        default=0,
        metavar="VERSION",
        help="a number of its history (default: the one before)",
    )


def _with_cwd(parser: argparse.ArgumentParser, default: str = argparse.SUPPRESS) -> None:
    parser.add_argument(
        "--cwd",
        default=default,
        metavar="PATH",
        help="the folder whose own tools are meant too (default: this one)",
    )


def _with_json(parser: argparse.ArgumentParser, *, is_given: bool | str = argparse.SUPPRESS) -> None:
    parser.add_argument("--json", action="store_true", default=is_given, help="one JSON document")


def run_tools(options: argparse.Namespace) -> int:
    """Do what was asked for; give the exit code."""
    from hermes_acp.app.service_factories import custom_tools_of

    if options.wish == "check":
        return _check(Path(options.file))
    custom_tools = custom_tools_of(read_environment())
    cwd = str(Path(options.cwd).resolve())
    match options.wish:
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
        print(
            NOTHING.format(home=tool_folders.folder("user", cwd), place=tool_folders.folder("workspace", cwd))
        )
    for file in files:
        whose = "yours" if file.scope == "user" else "this workspace"
        print(f"{bold(escaped(file.name))} ({whose}): {_state(custom_tools, file, cwd)}")
        if file.declaration:
            print(f"  {escaped(file.declaration.description)}")
            print(f"  {escaped(file.declaration.abilities())}")
        tool_failure = custom_tools.tool_failures.of(file.folder, file.name, file.digest)
        if tool_failure:
            last = tool_failure.error.strip().rpartition("\n")[2]
            print(f"  broke {tool_failure.in_a_row} times in a row, last: {escaped(last)}")


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
            return f"no tool yet: {escaped(file.checked.faults[0].told(file.path.name))}"
        case "not_trusted":
            return f"not trusted (`hermes-acp tools allow {escaped(file.name)}` trusts it as it is now)"
        case "put_aside":
            return "put aside"
        case "ready":
            return "ready"


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
        raise BadRequest(f"{path} cannot be read: {error.strerror or error}.") from error
    for fault in file.checked.faults:
        print(escaped(fault.told(str(path))))
    if file.declaration is None:
        return 1
    print(f"{escaped(str(path))} is a tool: {escaped(file.declaration.abilities())}.")
    return 0


def _allow(custom_tools: "CustomToolManager", cwd: str, name: str) -> None:
    file = next((each for each in custom_tools.files(cwd) if each.name == name), None)
    if file is None or file.declaration is None:
        raise BadRequest(f"There is no tool {name!r}.", hint="`hermes-acp tools` lists those there are.")
    custom_tools.allow(file, cwd)
    print(f"{escaped(str(file.path))} is trusted until it changes: {escaped(file.declaration.abilities())}.")


def _show_history(custom_tools: "CustomToolManager", cwd: str, name: str, *, as_json: bool) -> None:
    versions = custom_tools.workshop.versions(cwd, name)
    if not versions:
        raise BadRequest(f"There is no version of a tool {name!r}.")
    if as_json:
        print_json(versions[::-1])
        return
    for each in reversed(versions):
        session = f", session {each.cause.session_id}" if each.cause.session_id else ""
        away = "" if each.file else " (put away)"
        when = local_time(each.cause.at)
        print(f"{each.number}{away}  {when}  {each.cause.who}{escaped(session)}: {escaped(each.cause.why)}")


def _roll_back(custom_tools: "CustomToolManager", cwd: str, name: str, version: int) -> None:
    import anyio

    workshop = custom_tools.workshop
    change = ToolChange("rollback", name, "rolled back on the command line", version=version)
    preview = anyio.run(workshop.preview, cwd, change)
    print(escaped(workshop.change_now(cwd, change, preview, "user")))
