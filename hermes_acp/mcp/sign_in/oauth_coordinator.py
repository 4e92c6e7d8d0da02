"""Help users sign in to MCP servers, and report the state of those servers.

A user is asked once per session and server. A sign-in that has started continues after the turn.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

import anyio

from hermes_acp.core.events import Noticed
from hermes_acp.core.ports.gate_ports import Gate
from hermes_acp.core.ports.runtime_ports import StartTask
from hermes_acp.mcp.server_manager import McpServerManager

if TYPE_CHECKING:
    from hermes_acp.core.ports.session_ports import EquippedSession
    from hermes_acp.mcp.server_pool import McpServerPool, ServerState
    from hermes_acp.mcp.sign_in.server_login import ServerLogin

CONNECT_WAIT_S: Final = 2.0
HINT: Final = "login, logout or reconnect, and a server's name"
NO_SERVERS: Final = (
    "There are no MCP servers here. Servers of your own go into `config.yaml` under `mcp_servers`."
)


class OAuthCoordinator:
    """Asks users to sign in to the servers of their sessions, and answers `/mcp`."""

    def __init__(
        self,
        mcp_manager: McpServerManager,
        session_of: "Callable[[str], EquippedSession | None]",
        start: StartTask,
    ) -> None:
        self._mcp_manager = mcp_manager
        self._session_of = session_of
        self._start = start
        self._asked: WeakKeyDictionary[EquippedSession, set[str]] = WeakKeyDictionary()
        self._waited_for: WeakKeyDictionary[McpServerPool, None] = WeakKeyDictionary()

    async def welcome(self, session: "EquippedSession", gate: Gate) -> None:
        """Ask, before a turn, once for each server that requires sign-in; do nothing if there is no user to ask."""
        if not self._mcp_manager.is_attended:
            return
        asked = self._asked.setdefault(session, set())
        for servers in self._mcp_manager.servers_of(session):
            if servers.may_want_sign_in and servers not in self._waited_for:
                self._waited_for[servers] = None
                with anyio.move_on_after(CONNECT_WAIT_S):
                    await servers.settled()
            for server_login in servers.logins():
                if server_login.server not in asked:
                    asked.add(server_login.server)
                    session.ledger.emit(Noticed("warning", await self._lead(servers, server_login, gate)))

    async def answer(self, session_id: str, gate: Gate, words: str) -> str:
        """Run the subcommand of `/mcp`, or report the state of the servers; return the result as text."""
        session = self._session_of(session_id)
        all_servers = self._mcp_manager.servers_of(session) if session else ()
        wish, _, name = words.strip().partition(" ")
        name = name.strip()
        if not wish:
            lines = [server_status_line(state) for servers in all_servers for state in servers.states()]
            return "\n".join(lines) or NO_SERVERS
        found = [
            (servers, state) for servers in all_servers for state in servers.states() if state.name == name
        ]
        if not found or wish not in ("login", "logout", "reconnect"):
            return f"Write `/mcp` alone, or followed by {HINT}; `/mcp` shows the names."
        servers, state = found[0]
        if wish == "reconnect":
            await servers.revive(name)
            return next(server_status_line(each) for each in servers.states() if each.name == name)
        if state.server_login is None:
            return f"There is no sign-in for {name!r}: it is a local program, or config.yaml has its credentials."
        if wish == "logout":
            was_in = await state.server_login.sign_out()
            return f"You are signed out of {name!r}." if was_in else f"You were not signed in to {name!r}."
        return await self._lead(servers, state.server_login, gate)

    async def _lead(self, servers: "McpServerPool", server_login: "ServerLogin", gate: Gate) -> str:
        """Show the user the sign-in page; return the result, or what remains to be done."""
        from hermes_acp.mcp.sign_in.server_login import sign_in_question

        flow = server_login.flow()
        self._start(flow.run)
        link = await flow.wait_for_link()
        server_login.has_prompted = True
        if not link:
            return f"{server_login.server!r}: {flow.failure} {server_login.login_prompt()}"
        reply = await gate.inquire("", sign_in_question(server_login, link))
        if reply is None:
            return (
                f"To use the MCP server {server_login.server!r}, sign in: open {link} in a browser on this machine "
                f"within five minutes. Later, write `/mcp login {server_login.server}`."
            )
        if reply.outcome not in ("opened", "answered"):
            flow.give_up()
            return server_login.login_prompt()
        await flow.wait_until_done()
        if flow.failure:
            return f"{server_login.server!r}: {flow.failure} {server_login.login_prompt()}"
        await servers.revive(server_login.server)
        return f"You are signed in to the MCP server {server_login.server!r}."


def server_status_line(state: "ServerState") -> str:
    """Return the state of a server and what it offers, on one line."""
    from hermes_acp.core.untrusted_text import plain

    prompts = f", {state.prompts} prompts" if state.prompts else ""
    names = ", ".join(plain(name, 80) for name in state.tools[:20])
    more = f" and {len(state.tools) - 20} more" if len(state.tools) > 20 else ""
    listed = f": {names}{more}" if names else ""
    return f"- {plain(state.name)}: {plain(state.stands, 400)}; {len(state.tools)} tools{prompts}{listed}"
