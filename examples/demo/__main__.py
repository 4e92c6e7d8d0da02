"""Demonstrate the agent with real components: `python examples/demo [--recorded] [--colour]`.

Exit codes: 0 if every claim was verified, 1 if one was false, 2 if the configuration is invalid.
"""

import argparse
import os
import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Final

import anyio
from hermes_acp_client.agent import Agent
from hermes_acp_client.asking import option_named
from hermes_acp_client.errors import AgentError
from hermes_acp_client.opening import open_agent
from hermes_acp_client.session import Session
from local_model import find_local_model, list_missing_packages, local_model_server
from model_choice import Choice, find_model
from recorded_model import recorded_model
from screen import DIM, GREEN, RED, YELLOW, Screen
from stage_setting import Stage, run_tests, server_command, set_stage

from hermes_acp.config.environment import read_environment
from hermes_acp.core.errors import HermesError
from hermes_protocol import v1

TASK: Final = "The tests of this project fail. Find out why, fix the code, and show that they pass."
CHAT: Final = "Hello! Please tell me in one sentence what a unit test is."
TURN_TIMEOUT_S: Final = 600.0
CARD_TIMEOUT_S: Final = 10.0
TEST_RUN: Final = re.compile(r"(cd [\w./-]+ && )?(python3? -m (unittest|pytest)|pytest)( [\w.:-]+)*( 2>&1)?")
RECORDING_NOTE: Final = (
    "RECORDING: no model is configured, so the model's answers come from a recording.\n"
    "The server, the tools, the edit, the command and the session are real."
)
EMBEDDED_NOTE: Final = (
    "It is tiny (135 million parameters): it shows that streaming works, and its words mean little.\n"
    "A few of them are enough. `hermes-acp setup` connects a model that can work."
)
EMBEDDED_TOKENS: Final = 40
WELCOME: Final = (
    "hermes-acp is a coding agent. Here it gets a small project whose tests fail: it finds out why,\n"
    "proposes a fix, asks before it edits and before it runs a command, and shows that the tests pass."
)


class Show:
    """One run of the demo: its screen, and the claims that were checked."""

    def __init__(self, screen: Screen, stage: Stage) -> None:
        self.screen = screen
        self._stage = stage
        self._failures = 0
        self._outputs: dict[str, str] = {}
        self._asked_about: set[str] = set()

    @property
    def exit_code(self) -> int:
        """Return 0 if all claims were true, and 1 otherwise."""
        return 1 if self._failures else 0

    def claim(self, sentence: str, is_true: bool) -> None:
        """Show a claim and whether it is true."""
        self._failures += not is_true
        mark, style = ("✓", GREEN) if is_true else ("✗ NOT TRUE:", RED)
        self.screen.line(f"  {mark} {sentence}", style)

    async def answer(self, request: v1.RequestPermissionRequest) -> str | None:
        """Answer the agent's question after showing its tool call; a real model may run only a few commands here."""
        call_id = request.tool_call.tool_call_id
        with anyio.fail_after(CARD_TIMEOUT_S):
            while call_id not in self.screen.titles:
                await anyio.sleep(0.01)
        kind, command = call_of(request)
        self._asked_about.add(kind)
        if kind == "edit" or (kind == "execute" and TEST_RUN.fullmatch(command)):
            self.screen.question(request, "Allow once", "the demo answers here; in an editor you do")
            return option_named(request, "allow_once")
        self.screen.question(request, "Reject", "the demo allows edits and test runs, and nothing else")
        return option_named(request, "reject_once")

    async def take_turn(self, session: Session, prompt: str) -> v1.StopReason:
        """Run one turn and show its updates as they arrive."""
        self.screen.say("you", prompt)
        async with session.prompt(prompt, TURN_TIMEOUT_S) as turn:
            async for update in turn:
                self.screen.show(update)
                self._keep_output(update)
        self.screen.line(f"  turn ended: {turn.stop_reason}", DIM)
        return turn.stop_reason

    async def chat(self, model: Mapping[str, str]) -> None:
        """Talk to the embedded model, whose real output is streamed."""
        async with self._open(model) as agent:
            session = await agent.new_session(str(self._stage.project))
            words = await self._listen(session)
            self.claim("the embedded model streamed an answer, piece by piece", words > 1)

    def limit_answers(self, tokens: int) -> None:
        """Limit the length of answers from now on."""
        (self._stage.home / "config.yaml").write_text(f"max_output_tokens: {tokens}\n", encoding="utf-8")

    async def work(self, model: Mapping[str, str] | None) -> str:
        """Run the task; return the session's ID."""
        async with self._open(model) as agent:
            session = await agent.new_session(str(self._stage.project))
            await session.set_mode(
                "ask"
            )  # regardless of the user's own settings, the demo shows the questions
            reason = await self.take_turn(session, TASK)
        self.claim("the turn completed", reason == "end_turn")
        self._check_work()
        return session.id

    async def return_to(self, session_id: str, model: Mapping[str, str] | None) -> None:
        """Restart the server, find the session and replay it."""
        async with self._open(model) as agent:
            listed = await agent.list_sessions(str(self._stage.project))
            for info in listed:
                self.screen.line(f"  {info.session_id}  {info.updated_at}  {info.title}", DIM)
            self.claim("session/list names the session", session_id in {info.session_id for info in listed})
            session = await agent.load_session(session_id, str(self._stage.project))
            replayed = session.take_updates()
            said, answered = texts_of(replayed, v1.UserMessageChunk), texts_of(replayed, v1.AgentMessageChunk)
            cards = [u.title for u in replayed if isinstance(u, v1.ToolCall)]
            self.screen.line(f"  replayed: {len(replayed)} updates, among them the cards:", DIM)
            for title in cards:
                self.screen.line(f"    ● {title}", DIM)
            self.claim("session/load replays the prompt", TASK in said)
            self.claim("session/load replays the answer and the cards", bool(answered) and bool(cards))

    def _open(self, model: Mapping[str, str] | None) -> AbstractAsyncContextManager[Agent]:
        return open_agent(server_command(), env=self._stage.variables(model), on_permission=self.answer)

    async def _listen(self, session: Session) -> int:
        pieces = 0
        self.screen.say("you", CHAT)
        async with session.prompt(CHAT, TURN_TIMEOUT_S) as turn:
            async for update in turn:
                self.screen.show(update)
                pieces += isinstance(update, v1.AgentMessageChunk)
        self.screen.line(f"  turn ended: {turn.stop_reason}", DIM)
        return pieces

    def _keep_output(self, update: v1.SessionUpdate) -> None:
        if isinstance(update, v1.SessionUpdateToolCallUpdate) and update.status == "completed":
            self._outputs[update.tool_call_id] = str(update.raw_output)

    def _check_work(self) -> None:
        stage, screen = self._stage, self.screen
        screen.line()
        screen.line("  rates.py now:", DIM)
        text = (stage.project / "rates.py").read_text(encoding="utf-8")
        for line in text.splitlines()[9:]:
            screen.line(f"    {line}")
        before = (Path(__file__).parents[1] / "sample_project" / "rates.py").read_text(encoding="utf-8")
        self.claim("rates.py was changed on disk", text != before)
        self.claim("the edit asked before it was made", "edit" in self._asked_about)
        self.claim("the command asked before it ran", "execute" in self._asked_about)
        self.claim("a command of the agent printed OK", any("OK" in out for out in self._outputs.values()))
        self.claim("the tests pass when the demo runs them itself", run_tests(stage.project).returncode == 0)


def call_of(request: v1.RequestPermissionRequest) -> tuple[str, str]:
    """Return the kind and, if any, the command of the call that the question is about."""
    raw: dict[str, Any] = request.tool_call.raw_input or {}
    return request.tool_call.kind or "", str(raw.get("command", ""))


def texts_of(
    updates: Sequence[v1.SessionUpdate], kind: type[v1.UserMessageChunk | v1.AgentMessageChunk]
) -> str:
    """Return the joined text of one speaker."""
    chunks = [update.content for update in updates if isinstance(update, kind)]
    return "".join(content.text for content in chunks if isinstance(content, v1.TextContent))


async def show_all(options: argparse.Namespace, has_colours: bool) -> int:
    """Run the demo; return the exit code."""
    user = read_environment()
    choice = Choice("none") if options.recorded else await find_model(user)
    with set_stage() as stage:
        screen = Screen(sys.stdout, has_colours, stage.project)
        show = Show(screen, stage)
        screen.heading("What you see here", WELCOME)
        if choice.source == "none":
            await show_without_a_model(show, options.recorded)
        else:
            stage.take_settings(user)
            screen.heading(f"The task, by {choice.name} ({choice.source})")
            session_id = await show.work(None)
            screen.heading("The server restarts")
            await show.return_to(session_id, None)
        screen.line()
        return show.exit_code


async def show_without_a_model(show: Show, skips_embedded: bool) -> None:
    """Play the task from the recording, then let the embedded model say a few words if it is installed."""
    with recorded_model() as base_url:
        model = {"OPENAI_BASE_URL": base_url, "OPENAI_API_KEY": "none-needed", "HERMES_MODEL": "recording"}
        show.screen.heading("The task", RECORDING_NOTE)
        session_id = await show.work(model)
        show.screen.heading("The server restarts")
        await show.return_to(session_id, model)
    if not skips_embedded:
        await show_embedded_model(show)


async def show_embedded_model(show: Show) -> None:
    """Stream a short answer from a real model, which is too small to be useful."""
    files = find_local_model()
    if files is None:
        missing = ", ".join(list_missing_packages())
        show.screen.line(
            f"The embedded model is not installed ({missing}); its chat turn is skipped.", YELLOW
        )
        return
    show.screen.heading("Last, a real model on this machine", EMBEDDED_NOTE)
    show.screen.line("  loading it …", DIM)
    show.limit_answers(EMBEDDED_TOKENS)
    async with local_model_server(files) as server:
        await show.chat(
            {
                "OPENAI_BASE_URL": server.base_url,
                "OPENAI_API_KEY": server.api_key,
                "HERMES_MODEL": server.model_id,
            }
        )


def main() -> int:
    """Parse the flags and run the demo."""
    parser = argparse.ArgumentParser(prog="demo", description="Show what an editor would show.")
    parser.add_argument(
        "--recorded", action="store_true", help="play the recording even if a model is set up"
    )
    parser.add_argument("--colour", action="store_true", help="use colours even without a terminal")
    options = parser.parse_args()
    has_colours = options.colour or (sys.stdout.isatty() and not os.environ.get("NO_COLOR"))
    try:
        return anyio.run(show_all, options, has_colours)
    except HermesError as error:
        print(f"demo: {error.sentence()}", file=sys.stderr)
        return error.exit_code
    except AgentError as error:
        print(f"demo: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
