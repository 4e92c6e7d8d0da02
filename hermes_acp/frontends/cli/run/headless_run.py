"""The `hermes-acp run` command: one prompt without an editor.

Knows: where the prompt comes from, how signals and time end a run. Does not know: what a turn does.
"""

import argparse
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import anyio
import anyio.to_thread
from msgspec import structs

from hermes_acp.agent.background_tasks import background_tasks
from hermes_acp.app.app import App
from hermes_acp.config.environment import read_environment
from hermes_acp.core.errors import BadRequest, StorageError
from hermes_acp.core.events import Noticed
from hermes_acp.core.messages import TextPart
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.frontends.cli.cli_output import escaped
from hermes_acp.frontends.cli.messages import run_messages
from hermes_acp.frontends.cli.run.headless_session import RunReporter, UnattendedGate
from hermes_acp.sessions.session import Session
from hermes_acp.shutdown import ShutdownGuard
from hermes_protocol.descriptors import claim

EXIT_INTERRUPTED: Final = 130
PIECE_BYTES: Final = 65_536


def run_headless(options: argparse.Namespace) -> int:
    """Run the prompt to its end and return the exit code."""
    try:  # first: the guard's pipes would take the numbers of closed descriptors
        in_fd, out_fd = claim(is_silent=False)  # with `2>&1`, the user wants both together
    except OSError as error:
        reason = error.strerror or str(error)
        raise BadRequest(run_messages.streams_closed(reason), hint=run_messages.CLOSED_HINT) from error
    guard = ShutdownGuard()
    guard.start()
    guard.watch_signals()
    return anyio.run(_run, options, in_fd, out_fd, guard)


async def _read_prompt(named: str | None, in_fd: int, *, may_go_on: bool) -> str:
    """Return the prompt, or an empty one if none was passed or piped in and the last turn may resume without it."""
    if named is not None and named.startswith("@"):
        try:
            text = Path(named[1:]).read_text(encoding="utf-8")
        except OSError as error:
            reason = error.strerror or str(error)
            raise BadRequest(run_messages.prompt_unreadable(named[1:], reason)) from error
        except UnicodeDecodeError as error:
            raise BadRequest(run_messages.prompt_not_utf8(named[1:])) from error
    elif named is not None and named != "-":
        text = named
    elif os.isatty(in_fd):
        if may_go_on and named is None:
            return ""
        raise BadRequest(run_messages.NO_PROMPT, hint=run_messages.PROMPT_HINT)
    else:
        text = (await _read_whole(in_fd)).decode("utf-8", "replace")
    if not text.strip() and not (may_go_on and named is None):
        raise BadRequest(run_messages.EMPTY_PROMPT, hint=run_messages.PROMPT_HINT)
    return text


async def _read_whole(in_fd: int) -> bytes:
    """Read to the end; if the read blocked, a signal arriving just before it would wait for the writer."""
    read = bytearray()
    while True:
        with suppress(PermissionError):  # a regular file cannot be awaited, and need not be
            await anyio.wait_readable(in_fd)
        piece = os.read(in_fd, PIECE_BYTES)
        if not piece:
            return bytes(read)
        read += piece


async def _run(options: argparse.Namespace, in_fd: int, out_fd: int, guard: ShutdownGuard) -> int:
    environment = structs.replace(read_environment(), allows_bypass=options.allow_bypass)
    app = App(environment, overrides=_overrides(options))
    with anyio.CancelScope() as scope:
        stop = _StopSignal(scope, guard)
        async with background_tasks(stop.listen):
            try:
                prompt = await _read_prompt(options.prompt, in_fd, may_go_on=bool(options.resume))
                async with background_tasks(app.keep):
                    return await _converse(app, stop, options, prompt, out_fd)
            finally:
                with anyio.CancelScope(shield=True):
                    await app.aclose()
    return EXIT_INTERRUPTED


async def _converse(
    app: App, stop: "_StopSignal", options: argparse.Namespace, prompt: str, out_fd: int
) -> int:
    await app.configuration.deps()
    session, news = await _open(app, options)
    reporter = RunReporter(session.id, options.output_format, _Output(out_fd).write, _note)
    reporter.show(session.record.opening())
    for event in news:
        reporter.show(event)
    session.ledger.admit(reporter)
    gate = UnattendedGate()
    stop.aim_at(session)
    going = session.prompt((TextPart(prompt),), gate) if prompt.strip() else session.go_on(gate)
    end = await going
    return reporter.finish(end, was_refused=bool(gate.needed - reporter.completed))


class _StopSignal:
    """What a signal stops: the whole run or, once a turn can end cleanly, that turn."""

    def __init__(self, scope: anyio.CancelScope, guard: ShutdownGuard) -> None:
        self._scope = scope
        self._guard = guard
        self._session: Session | None = None

    def aim_at(self, session: Session) -> None:
        """From now on, let signals end the session's turn, with its record and its report."""
        self._session = session

    async def listen(self) -> None:
        """Stop at every signal, concurrently with the run."""
        while True:
            await self._guard.stopped()
            if self._session:
                self._session.cancel()
            else:
                self._scope.cancel()


async def _open(app: App, options: argparse.Namespace) -> tuple[Session, list[Noticed]]:
    """Open the named session or a new one; notices about its record are for the user."""
    cwd = str(Path(options.cwd).absolute())

    def open_workspace(_: str, place: str, roots: tuple[str, ...]) -> Workspace:
        return app.open_workspace(place, roots)

    named = options.resume or options.session
    if named and (options.resume or app.sessions.is_stored(named)):
        session, past = await app.sessions.load(named, cwd, open_workspace)
        news = [event for event in past.news if isinstance(event, Noticed)]
    else:
        news = []
        session = await app.sessions.create(cwd, (), open_workspace, named)
    mode = options.mode or app.configuration.default_mode()
    if mode == "bypass" and not session.offers.allows_bypass:
        raise BadRequest(run_messages.BYPASS_NOT_ALLOWED, hint=run_messages.BYPASS_HINT)
    session.set_mode(mode)
    if options.trust_workspace:
        await anyio.to_thread.run_sync(app.workspace_trust.trust_for_process, session.record.cwd)
    return session, news


def _overrides(options: argparse.Namespace) -> dict[str, Any]:
    flags = {
        "backend": options.backend,
        "budget.max_steps": options.max_steps,
        "budget.max_tokens": options.max_tokens,
        "budget.max_cost_usd": options.max_cost,
        "budget.timeout_s": options.timeout,
    }
    return {name: value for name, value in flags.items() if value is not None}


def _note(line: str) -> None:
    """Print progress on one line each, without anything that controls a terminal or a CI runner."""
    print(escaped(" ".join(line.split())), file=sys.stderr, flush=True)


class _Output:
    """The original standard output, before it was moved; a reader that left stops nothing.

    Model output cannot control a terminal it may be connected to.
    """

    def __init__(self, out_fd: int) -> None:
        self._out_fd = out_fd
        self._is_open = True
        self._is_terminal = os.isatty(out_fd)

    def write(self, text: str) -> None:
        rest = (escaped(text) if self._is_terminal else text).encode("utf-8", "replace")
        try:
            while rest and self._is_open:
                rest = rest[os.write(self._out_fd, rest) :]
        except BrokenPipeError:
            self._is_open = False
        except OSError as error:
            self._is_open = False
            raise StorageError(
                run_messages.output_unwritable(error.strerror or str(error)), hint=run_messages.RECORDED_HINT
            ) from error
