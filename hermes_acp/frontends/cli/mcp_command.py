"""The `hermes-acp mcp` command: show the user's own MCP servers, sign in and sign out."""

import argparse
from typing import TYPE_CHECKING, Final

from hermes_acp.config.environment import Environment, read_environment
from hermes_acp.core.errors import AuthRequired, BadRequest
from hermes_acp.frontends.cli.cli_output import bold, escaped, note
from hermes_acp.frontends.cli.messages import mcp_messages

if TYPE_CHECKING:
    from hermes_acp.mcp.server_definitions import HttpServer, SseServer

CONNECT_WAIT_S: Final = 30.0


def add_mcp(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands and their flags to the parser."""
    actions = parser.add_subparsers(dest="action", metavar="COMMAND", parser_class=type(parser))
    parser.set_defaults(action="list")
    actions.add_parser(
        "list",
        help=mcp_messages.LIST_HELP,
    )
    login = actions.add_parser("login", help=mcp_messages.LOGIN_HELP)
    login.add_argument("server", metavar="NAME", help=mcp_messages.SERVER_HELP)
    login.add_argument("--no-browser", action="store_true", help=mcp_messages.NO_BROWSER_HELP)
    logout = actions.add_parser("logout", help=mcp_messages.LOGOUT_HELP)
    logout.add_argument("server", metavar="NAME", help=mcp_messages.SERVER_HELP)


def run_mcp(options: argparse.Namespace) -> int:
    """Run the subcommand and return the exit code."""
    import anyio

    match options.action:
        case "list":
            return anyio.run(_list, read_environment())
        case "login":
            return anyio.run(_log_in, read_environment(), options.server, options.no_browser)
        case _:
            return anyio.run(_log_out, read_environment(), options.server)


async def _list(environment: Environment) -> int:
    import anyio

    from hermes_acp.app.service_factories import build_mcp_manager
    from hermes_acp.config.settings import load_settings
    from hermes_acp.mcp.sign_in.oauth_coordinator import NO_SERVERS, server_status_line
    from hermes_acp.sessions.tool_sources import ToolSourceRunner

    runner = ToolSourceRunner()
    mcp_manager = build_mcp_manager(environment, runner, lambda: None)
    await mcp_manager.share(load_settings(environment))
    servers = mcp_manager.servers_of(None)
    if not servers:
        print(NO_SERVERS)
        return 0
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(runner.run)
        for each in servers:
            with anyio.move_on_after(CONNECT_WAIT_S):
                await each.settled()
            for state in each.states():
                print(server_status_line(state))
        await mcp_manager.aclose()
        tasks.cancel_scope.cancel()
    return 0


async def _log_in(environment: Environment, name: str, is_quiet: bool) -> int:
    from anyio import CapacityLimiter, to_thread

    from hermes_acp.mcp.server_definitions import Challenge, SignInFailed
    from hermes_acp.mcp.server_transports import load
    from hermes_acp.mcp.sign_in.token_store import TokenFile

    spec = _spec_of(environment, name)
    await to_thread.run_sync(load)
    from hermes_acp.mcp.sign_in.oauth_flow import sign_in

    async def show(link: str) -> None:
        print(mcp_messages.open_page(escaped(link)), flush=True)
        if not is_quiet:
            import webbrowser

            await to_thread.run_sync(webbrowser.open, link, limiter=CapacityLimiter(1))

    try:
        await sign_in(spec, TokenFile(environment.home / "mcp-tokens", spec.url), Challenge(), show)
    except SignInFailed as failed:
        raise AuthRequired(mcp_messages.sign_in_failed(spec.name, failed.words)) from None
    print(mcp_messages.signed_in(bold(escaped(spec.name))))
    return 0


async def _log_out(environment: Environment, name: str) -> int:
    from hermes_acp.mcp.sign_in.token_store import TokenFile

    spec = _spec_of(environment, name)
    file = TokenFile(environment.home / "mcp-tokens", spec.url)
    async with file.held():
        was_in = await file.forget()
    if not was_in:
        note(mcp_messages.was_not_signed_in(spec.name))
        return 0
    print(mcp_messages.signed_out(escaped(spec.name)))
    return 0


def _spec_of(environment: Environment, name: str) -> "HttpServer | SseServer":
    """Return the server with this name or URL. Raises BadRequest if it is unknown or does not support signing in."""
    from hermes_acp.config.settings import load_settings
    from hermes_acp.mcp.server_definitions import HttpServer, SseServer
    from hermes_acp.mcp.server_manager import server_specs

    if name.lower().startswith(("http://", "https://")):
        return HttpServer(name, name)
    specs = server_specs(load_settings(environment))
    found = next((spec for spec in specs if spec.name == name), None)
    if found is None:
        names = ", ".join(spec.name for spec in specs)
        raise BadRequest(mcp_messages.unknown_server(name), hint=mcp_messages.known_servers(names))
    if not isinstance(found, HttpServer | SseServer):
        raise BadRequest(mcp_messages.is_a_program(name), hint=mcp_messages.PROGRAM_HINT)
    if any(header.lower() == "authorization" for header, _ in found.headers):
        raise BadRequest(mcp_messages.has_own_header(name), hint=mcp_messages.HEADER_HINT)
    return found
