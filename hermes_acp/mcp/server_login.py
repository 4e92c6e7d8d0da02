"""The door of one server: who is let in, and how a user gets to be.

Knows: what the server demanded last, one sign-in at a time and what became of it. Does not know: connections, who shows
a link to the user. Only servers over HTTP have one, and only where no header of the user's says who they are.
"""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import anyio

from hermes_acp.core.proposals import Question, Reply
from hermes_acp.core.untrusted import plain
from hermes_acp.mcp.keys import KeyFile
from hermes_acp.mcp.specs import Challenge, HttpServer, ServerSpec, SignInFailed, SseServer, Surroundings

if TYPE_CHECKING:
    from hermes_acp.mcp.tickets import Ticket

Inquire = Callable[[Question], Awaitable[Reply | None]]


class Door:
    """The way into one server."""

    def __init__(self, spec: HttpServer | SseServer, folder: Path, on_entry: Callable[[], None]) -> None:
        """Prepare; `on_entry` is called when the user has signed in."""
        self.file = KeyFile(folder, spec.url)
        self._spec = spec
        self._on_entry = on_entry
        self.has_pleaded = False
        """Whether the user was told that they may sign in."""
        self._ticket: Ticket | None = None
        self._present: Visit | None = None

    @property
    def server(self) -> str:
        """The server's name, as the user knows it."""
        return self._spec.name

    @property
    def ticket(self) -> "Ticket":
        """What goes along with requests; `load` of the transports must have been called."""
        if self._ticket is None:
            from hermes_acp.mcp.tickets import Ticket

            self._ticket = Ticket(self._spec.url, self.file)
        return self._ticket

    @property
    def is_shut(self) -> bool:
        """Whether the server wants the user to sign in."""
        return bool(self._ticket and self._ticket.challenge)

    def veil(self, text: str) -> str:
        """Give a text without the tokens that were sent here."""
        for token in self._ticket.sent if self._ticket else ():
            text = text.replace(token, "[token of this server]")
        return text

    def plea(self) -> str:
        """Say how its user gets in."""
        name = plain(self.server)
        return (
            f"The MCP server {name!r} wants you to sign in: write `/mcp login {name}` here, or run "
            f"`hermes-acp mcp login {name}` in a terminal."
        )

    async def leave(self) -> bool:
        """Forget what was given out to the user; tell whether there was something. Raises StorageTrouble."""
        async with self.file.held():
            return await self.file.forget()

    def visit(self) -> "Visit":
        """Give the sign-in that is under way, or a new one; whoever gets a new one runs it."""
        if self._present is None or self._present.is_over:
            self._present = Visit(self._spec, self.file, self._demand(), self._enter)
        return self._present

    def _demand(self) -> Challenge:
        return (self._ticket and self._ticket.challenge) or Challenge()

    def _enter(self) -> None:
        self.has_pleaded = False
        if self._ticket:
            self._ticket.challenge = None
        self._on_entry()


class Visit:
    """One sign-in. `link` is where the user goes; `failure` says why they are not in, when it is over."""

    def __init__(
        self,
        spec: HttpServer | SseServer,
        file: KeyFile,
        challenge: Challenge,
        on_entry: Callable[[], None],
    ) -> None:
        self.link = ""
        self.failure = ""
        self.is_over = False
        self.is_begun = False
        self._spec = spec
        self._file = file
        self._challenge = challenge
        self._on_entry = on_entry
        self._has_link = anyio.Event()
        self._end = anyio.Event()
        self._scope = anyio.CancelScope()

    async def run(self) -> None:
        """Go through it; does nothing where somebody else does already."""
        if self.is_begun:
            return
        self.is_begun = True
        from hermes_acp.mcp.sign_in import sign_in

        self.failure = "The sign-in was given up."
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
            self._on_entry()

    async def linked(self) -> str:
        """Wait for the link and give it; empty where it has come to its end without one."""
        await self._has_link.wait()
        return self.link

    async def ended(self) -> None:
        """Wait for the end."""
        await self._end.wait()

    def give_up(self) -> None:
        """End it; the link then leads nowhere."""
        self._scope.cancel()

    async def _show(self, link: str) -> None:
        self.link = link
        self._has_link.set()


async def let_in(door: Door, inquire: Inquire) -> bool:
    """Ask a user to sign in and wait until they did; False where they do not, or cannot be asked."""
    visit = door.visit()
    is_ours = not visit.is_begun
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(visit.run)
        link = await visit.linked()
        reply = await inquire(question_of(door, link)) if link else None
        if reply is not None and reply.outcome in ("opened", "answered"):
            await visit.ended()
        elif is_ours:
            visit.give_up()
    return visit.is_over and not visit.failure


def question_of(door: Door, link: str) -> Question:
    """Give the question that leads a user to a link."""
    host = plain(urlsplit(link).hostname or "", 100)
    return Question(
        f"The MCP server {plain(door.server)!r} wants you to sign in. The page is at {host}.", url=link
    )


def door_of(spec: ServerSpec, surroundings: Surroundings, on_entry: Callable[[], None]) -> Door | None:
    """Give the door of a server; None where it has none."""
    if not isinstance(spec, HttpServer | SseServer) or surroundings.keys is None:
        return None
    if any(name.lower() == "authorization" for name, _ in spec.headers):
        return None
    return Door(spec, surroundings.keys, on_entry)
