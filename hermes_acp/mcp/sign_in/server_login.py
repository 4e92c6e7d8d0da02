"""The login state of a server: the challenge, a running sign-in and its result.

Only HTTP servers have a login, and only if the user has not configured a header that authenticates them.
"""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import anyio

from hermes_acp.core.proposals import Question, Reply
from hermes_acp.core.untrusted_text import plain
from hermes_acp.mcp.server_definitions import (
    Challenge,
    HttpServer,
    ServerContext,
    ServerSpec,
    SignInFailed,
    SseServer,
)
from hermes_acp.mcp.sign_in.token_store import TokenFile

if TYPE_CHECKING:
    from hermes_acp.mcp.sign_in.bearer_auth import BearerAuth

AskUser = Callable[[Question], Awaitable[Reply | None]]


class ServerLogin:
    """The user's login to a server."""

    def __init__(self, spec: HttpServer | SseServer, folder: Path, on_signed_in: Callable[[], None]) -> None:
        """Create the login state; `on_signed_in` is called once the user has signed in."""
        self.file = TokenFile(folder, spec.url)
        self._spec = spec
        self._on_signed_in = on_signed_in
        self.has_prompted = False
        """Whether the user has been told that they can sign in."""
        self._bearer_auth: BearerAuth | None = None
        self._present: SignInFlow | None = None

    @property
    def server(self) -> str:
        """The server's name, as the user knows it."""
        return self._spec.name

    @property
    def bearer_auth(self) -> "BearerAuth":
        """Return the authentication for requests; `server_transports.load` must have been called."""
        if self._bearer_auth is None:
            from hermes_acp.mcp.sign_in.bearer_auth import BearerAuth

            self._bearer_auth = BearerAuth(self._spec.url, self.file)
        return self._bearer_auth

    @property
    def needs_sign_in(self) -> bool:
        """Whether the server requires sign-in."""
        return bool(self._bearer_auth and self._bearer_auth.challenge)

    def redact_tokens(self, text: str) -> str:
        """Return a text without the tokens that were sent to this server."""
        for token in self._bearer_auth.sent if self._bearer_auth else ():
            text = text.replace(token, "[token of this server]")
        return text

    def login_prompt(self) -> str:
        """Return a sentence that says how the user can sign in."""
        name = plain(self.server)
        return (
            f"The MCP server {name!r} asks you to sign in: write `/mcp login {name}` here, or run "
            f"`hermes-acp mcp login {name}` in a terminal."
        )

    async def sign_out(self) -> bool:
        """Delete the user's tokens; return whether there were any. Raises StorageError."""
        async with self.file.held():
            return await self.file.forget()

    def flow(self) -> "SignInFlow":
        """Return the running sign-in, or a new one that the caller must run."""
        if self._present is None or self._present.is_over:
            self._present = SignInFlow(self._spec, self.file, self._demand(), self._signed_in)
        return self._present

    def _demand(self) -> Challenge:
        return (self._bearer_auth and self._bearer_auth.challenge) or Challenge()

    def _signed_in(self) -> None:
        self.has_prompted = False
        if self._bearer_auth:
            self._bearer_auth.challenge = None
        self._on_signed_in()


class SignInFlow:
    """A running sign-in. `link` is the page for the user; once the sign-in has ended, `failure` says why it failed."""

    def __init__(
        self,
        spec: HttpServer | SseServer,
        file: TokenFile,
        challenge: Challenge,
        on_signed_in: Callable[[], None],
    ) -> None:
        self.link = ""
        self.failure = ""
        self.is_over = False
        self.is_begun = False
        self._spec = spec
        self._file = file
        self._challenge = challenge
        self._on_signed_in = on_signed_in
        self._has_link = anyio.Event()
        self._end = anyio.Event()
        self._scope = anyio.CancelScope()

    async def run(self) -> None:
        """Run the sign-in, unless another caller is already running it."""
        if self.is_begun:
            return
        self.is_begun = True
        from hermes_acp.mcp.sign_in.oauth_flow import sign_in

        self.failure = "The sign-in was cancelled."
        try:
            with self._scope:
                await sign_in(self._spec, self._file, self._challenge, self._show)
                self.failure = ""
        except SignInFailed as failed:
            self.failure = failed.words
        finally:
            self.is_over = True
            self._has_link.set()
            self._end.set()
        if not self.failure:
            self._on_signed_in()

    async def wait_for_link(self) -> str:
        """Wait for the link and return it, or an empty string if the sign-in ended without one."""
        await self._has_link.wait()
        return self.link

    async def wait_until_done(self) -> None:
        """Wait until the sign-in has ended."""
        await self._end.wait()

    def give_up(self) -> None:
        """Cancel the sign-in, which invalidates the link."""
        self._scope.cancel()

    async def _show(self, link: str) -> None:
        self.link = link
        self._has_link.set()


async def complete_sign_in(server_login: ServerLogin, inquire: AskUser) -> bool:
    """Ask a user to sign in and wait for it; return False if they decline or cannot be asked."""
    flow = server_login.flow()
    is_ours = not flow.is_begun
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(flow.run)
        link = await flow.wait_for_link()
        reply = await inquire(sign_in_question(server_login, link)) if link else None
        if reply is not None and reply.outcome in ("opened", "answered"):
            await flow.wait_until_done()
        elif is_ours:
            flow.give_up()
    return flow.is_over and not flow.failure


def sign_in_question(server_login: ServerLogin, link: str) -> Question:
    """Return the question that shows the link to a user."""
    host = plain(urlsplit(link).hostname or "", 100)
    return Question(
        f"The MCP server {plain(server_login.server)!r} wants you to sign in. The page is at {host}.",
        url=link,
    )


def login_of(
    spec: ServerSpec, server_context: ServerContext, on_signed_in: Callable[[], None]
) -> ServerLogin | None:
    """Return the login of a server, or None if it has none."""
    if not isinstance(spec, HttpServer | SseServer) or server_context.keys is None:
        return None
    if any(name.lower() == "authorization" for name, _ in spec.headers):
        return None
    return ServerLogin(spec, server_context.keys, on_signed_in)
