"""Run a chat: inspect the terminal, build the parts, and report how the chat ended."""

import argparse
import os
import shutil
import signal
import sys
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import anyio

from hermes_acp.config.environment import Environment
from hermes_acp.config.home_folders import DEFAULT_PROFILE
from hermes_acp.core.errors import ConfigError
from hermes_acp.frontends.chat import messages
from hermes_acp.frontends.chat.agent.agent_launch import AgentLauncher
from hermes_acp.frontends.chat.agent.agent_link import AgentLink, SessionRequest
from hermes_acp.frontends.chat.chat_assembly import ChatAssembly
from hermes_acp.frontends.chat.chat_context import COMMANDS
from hermes_acp.frontends.chat.chat_loop import Chat, InitialOptions
from hermes_acp.frontends.chat.first_start import offer_setup
from hermes_acp.frontends.chat.questions.questions_screen import LineQuestions
from hermes_acp.frontends.chat.rendering.terminal_text import sanitize, sanitize_line
from hermes_acp.frontends.chat.rendering.text_rendering import TerminalStyle, TextRenderer
from hermes_acp.frontends.chat.rendering.transcript_layout import TranscriptLayout
from hermes_acp.frontends.chat.screens.plain_screen import PlainScreen
from hermes_acp.frontends.chat.screens.screen import Screen
from hermes_acp.garbage_collection import enable_garbage_collection

if TYPE_CHECKING:
    from prompt_toolkit.history import History

DUMB_TERMINALS: Final = frozenset({"dumb", "unknown", ""})
MAX_REPORT_LINES: Final = 6


def run_chat(environment: Environment, cwd: str, options: argparse.Namespace, launch: AgentLauncher) -> int:
    """Run a chat; return the exit code. Raises SetupWanted if there is no model and the user wants to set one up."""
    enable_garbage_collection()
    return anyio.run(_hold, environment, cwd, options, launch)


async def _hold(
    environment: Environment, cwd: str, options: argparse.Namespace, launch: AgentLauncher
) -> int:
    is_terminal_attached = sys.stdin.isatty() and sys.stdout.isatty()
    style = terminal_style_of(environment.variables, is_terminal=is_terminal_attached and not options.plain)
    if options.full:
        return await _hold_full(environment, cwd, options, launch, style)
    layout = TranscriptLayout(TextRenderer(style, _columns))
    parts = ChatAssembly(launch, cwd, layout, is_sequential=style.is_plain)
    screen = _screen(parts, environment, style, is_private=options.private)
    parts.open(screen, LineQuestions(screen, layout, cwd), _initial_options(options))
    if is_terminal_attached:
        await screen.write(_banner(layout, cwd, environment))
    code = 1
    try:
        async with anyio.create_task_group() as group:
            if isinstance(screen, PlainScreen):
                group.start_soon(_forward_interrupts, parts.chat, screen)
            code = await parts.hold(_requested_session(options))
            group.cancel_scope.cancel()
    finally:
        parts.events.close()
        _close(screen)
    _report_end(parts.link, layout, is_terminal_attached=is_terminal_attached)
    if is_terminal_attached:
        offer_setup(parts.link.failure)
    return code


async def _hold_full(
    environment: Environment,
    cwd: str,
    options: argparse.Namespace,
    launch: AgentLauncher,
    style: TerminalStyle,
) -> int:
    """Run the full-screen chat. Raises ConfigError without a suitable terminal."""
    if style.is_plain:
        raise ConfigError(messages.FULL_NEEDS_TERMINAL, hint=messages.FULL_NEEDS_TERMINAL_HINT)
    from hermes_acp.frontends.chat.full_screen.full_chat import FullChat
    from hermes_acp.frontends.chat.screens.external_editor import editor_of

    history = _history(environment, cwd, is_private=options.private)
    chat = FullChat(launch, cwd, style, _initial_options(options), history, editor_of(environment.variables))
    code = await chat.run(_requested_session(options))
    _report_end(chat.parts.link, TranscriptLayout(TextRenderer(style, _columns)), is_terminal_attached=True)
    return code


def terminal_style_of(variables: Mapping[str, str], *, is_terminal: bool) -> TerminalStyle:
    """Determine from environment variables what the terminal can show."""
    term = variables.get("TERM", "")
    if not is_terminal or term in DUMB_TERMINALS:
        return TerminalStyle("none", is_plain=True)
    if variables.get("NO_COLOR"):
        return TerminalStyle("attributes", is_plain=False)
    if variables.get("COLORTERM", "").lower() in ("truecolor", "24bit"):
        return TerminalStyle("truecolor", is_plain=False)
    return TerminalStyle("256" if "256" in term else "standard", is_plain=False)


def _screen(
    parts: ChatAssembly,
    environment: Environment,
    style: TerminalStyle,
    *,
    is_private: bool,
) -> Screen:
    if style.is_plain:
        return PlainScreen(sys.stdin.fileno(), sys.stdout.fileno())
    from hermes_acp.frontends.chat.input.completion_source import CompletionSource
    from hermes_acp.frontends.chat.input.line_completion import LineCompleter
    from hermes_acp.frontends.chat.screens.external_editor import editor_of
    from hermes_acp.frontends.chat.screens.live_screen import LiveScreen

    cwd = parts.cwd
    offering = CompletionSource(parts.session_status, COMMANDS)
    completer = LineCompleter(
        cwd, offering.commands, offering.values, offering.wait_for_commands, time.monotonic
    )
    history = _history(environment, cwd, is_private=is_private)
    editor = editor_of(environment.variables)
    return LiveScreen(parts.widgets(), completer, history, style.colours, time.monotonic, editor)


def _history(environment: Environment, cwd: str, *, is_private: bool) -> "History":
    from prompt_toolkit.history import InMemoryHistory

    from hermes_acp.frontends.chat.input.prompt_history import PromptHistory

    return InMemoryHistory() if is_private else PromptHistory(environment.home, cwd)


def _close(screen: Screen) -> None:
    if not isinstance(screen, PlainScreen):
        from hermes_acp.frontends.chat.screens.live_screen import LiveScreen

        assert isinstance(screen, LiveScreen)
        screen.close()


async def _forward_interrupts(chat: Chat, screen: PlainScreen) -> None:
    with anyio.open_signal_receiver(signal.SIGINT) as signals:
        async for _ in signals:
            if chat.key_actions.interrupt(False) == "leave":
                screen.cancel_read()


def _initial_options(options: argparse.Namespace) -> InitialOptions:
    return InitialOptions(options.model, options.mode, " ".join(options.prompt))


def _requested_session(options: argparse.Namespace) -> SessionRequest:
    if options.resume is None:
        return SessionRequest("picked")
    if options.resume:
        return SessionRequest("stored", options.resume)
    return SessionRequest("newest" if options.goes_on else "new")


def _columns() -> int:
    return shutil.get_terminal_size().columns


def _banner(layout: TranscriptLayout, cwd: str, environment: Environment) -> str:
    home = environment.variables.get("HOME", "")
    place = f"~{cwd.removeprefix(home)}" if home and (cwd == home or cwd.startswith(f"{home}/")) else cwd
    profile = "" if environment.profile == DEFAULT_PROFILE else environment.profile
    return layout.greeting(sanitize_line(place), profile)


def _report_end(link: AgentLink, layout: TranscriptLayout, *, is_terminal_attached: bool) -> None:
    """Report a failure, or how to resume the session."""
    if link.failure is not None:
        last_words = sanitize(link.failure.sentence).split("\n")
        report = "\n".join((last_words[0], *last_words[1:][-MAX_REPORT_LINES:]))
        sys.stderr.write(f"{messages.fatal(report)}\n")
    elif is_terminal_attached and link.last_id:
        os.write(sys.stdout.fileno(), layout.farewell(link.last_id).encode())
