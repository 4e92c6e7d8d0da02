"""The `hermes-acp` command.

Without arguments, it is the server, unless a person starts it in a terminal. Standard output is reserved for the
protocol before anything else happens.
"""

import gc
import sys
from types import MappingProxyType
from typing import NoReturn

# Importing creates many objects but no garbage; collecting would add a quarter to the time to first output.
# `agent.setup.configuration` turns the collector back on once everything is loaded (`garbage_collection.py`).
gc.disable()


COMMANDS = MappingProxyType(
    {
        "chat": ("hermes_acp.frontends.chat.chat_command", "chat_command"),
        "daemon": ("hermes_acp.frontends.acp.daemon.daemon_command", "daemon_command"),
        "drive": ("hermes_acp.frontends.cli.worker.drive_command", "drive_command"),
        "gateway": ("hermes_acp.frontends.gateway.gateway_command", "gateway_command"),
        "hub": ("hermes_acp.frontends.hub.hub_command", "hub_command"),
        "lsp": ("hermes_acp.frontends.lsp.lsp_command", "lsp_command"),
        "serve": ("hermes_acp.frontends.acp.daemon.serve_command", "serve_command"),
        "service": ("hermes_acp.frontends.acp.service.service_command", "service_command"),
        "status": ("hermes_acp.frontends.acp.daemon.daemon_command", "status_command"),
    }
)
"""Commands implemented by frontends other than `cli`, with the module and the function, which takes the arguments that
follow the name.
"""


def main() -> None:
    """Serve an editor over stdio or clients over HTTP, or run the given subcommand."""
    if sys.getfilesystemencoding() != "utf-8":
        _start_again_in_utf8()
    if any(word.partition("=")[0] == "--profile" for word in sys.argv[1:]):
        from hermes_acp.frontends.command_line.profile_flag import take_profile

        sys.argv[1:] = take_profile(sys.argv[1:])
    if sys.argv[1:2] == ["help"]:
        sys.argv[1:] = [*sys.argv[2:], "--help"]
    if all(word == "--allow-bypass" for word in sys.argv[1:]) and _is_at_a_terminal():
        from hermes_acp.frontends.cli.start_menu import choose_start

        sys.argv[1:] = choose_start(sys.argv[1:])
    allows_bypass = "--allow-bypass" in sys.argv[1:3]
    if [word for word in sys.argv[1:] if word != "--allow-bypass"] in ([], ["acp"]):
        _serve_editor(allows_bypass=allows_bypass)
    from hermes_acp.shutdown import reset_inherited_signals

    reset_inherited_signals()
    if sys.argv[1:2] and (command := COMMANDS.get(sys.argv[1])):
        import importlib

        module, function = command
        sys.exit(getattr(importlib.import_module(module), function)(sys.argv[2:]))
    try:
        if sys.argv[1:] == ["scan", "--jsonl"]:
            from hermes_acp.frontends.cli.scan.scan_lines import scan_lines

            sys.exit(scan_lines())
        if sys.argv[1:2] == ["scan"]:
            from hermes_acp.frontends.cli.scan.scan_command import scan_command

            sys.exit(scan_command(sys.argv[2:]))
        from hermes_acp.frontends.cli.cli_main import run_command

        sys.exit(run_command(sys.argv[1:]))
    except KeyboardInterrupt:
        from hermes_acp.core.exit_codes import ExitCode

        sys.stderr.write("hermes-acp: Interrupted.\n")
        sys.exit(ExitCode.INTERRUPTED)


def _serve_editor(*, allows_bypass: bool) -> NoReturn:
    """Serve an editor over standard input and output, here or in the resident process, and exit."""
    from hermes_protocol.descriptors import claim

    _print_start_hint()
    try:
        wire = claim()
    except OSError as error:
        _report_closed_streams(error)
    from hermes_acp.shutdown import ShutdownGuard

    guard = ShutdownGuard(wire[0])
    guard.start()
    from hermes_acp.frontends.acp.daemon.handover import hand_over

    code = hand_over(*wire, allows_bypass=allows_bypass)
    if code is None:
        from hermes_acp.frontends.acp.stdio_server import serve_stdio

        code = serve_stdio(*wire, guard, allows_bypass=allows_bypass)
    from hermes_acp.shutdown import exit_process

    exit_process(code)


def _print_start_hint() -> None:
    """Tell a person at a terminal what the program is waiting for; editors use pipes and never see this."""
    if _is_at_a_terminal():
        sys.stderr.write(
            "hermes-acp: Waiting for an editor that speaks the Agent Client Protocol on standard input. "
            "To talk to the agent here: hermes-acp chat. For everything else: hermes-acp --help. Ctrl+C stops it.\n"
        )


def _is_at_a_terminal() -> bool:
    import os

    return all(map(os.isatty, (0, 1, 2)))


def _report_closed_streams(error: OSError) -> NoReturn:
    """Report that standard input or output is closed, so there is no client to serve, and exit. Raises SystemExit."""
    from hermes_acp.core.exit_codes import ExitCode

    if sys.stderr:
        sys.stderr.write(
            f"hermes-acp: Standard input or output is closed: {error.strerror}. Start it with both open.\n"
        )
    sys.exit(ExitCode.USAGE)


def _start_again_in_utf8() -> None:
    """Restart this process in Python's UTF-8 mode; under another locale, most file names could not be written."""
    import os

    os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])


if __name__ == "__main__":
    main()
