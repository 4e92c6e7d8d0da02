"""The `hermes-acp run` command: run one prompt without an editor."""

import argparse
from contextlib import suppress
from typing import Any

import anyio
from msgspec import structs

from hermes_acp.agent.background_tasks import background_tasks
from hermes_acp.agent.turn.commissions import Commission
from hermes_acp.app.app import App
from hermes_acp.config.environment import Environment, read_environment
from hermes_acp.core.errors import BadRequest, HermesError
from hermes_acp.core.exit_codes import ExitCode
from hermes_acp.core.messages import Part
from hermes_acp.frontends.cli.messages import run_messages
from hermes_acp.frontends.cli.run.headless_session import RunReporter, UnattendedGate
from hermes_acp.frontends.cli.run.model_selection import MODEL_VARIABLE, with_model
from hermes_acp.frontends.cli.run.prompt_input import PromptInput
from hermes_acp.frontends.cli.run.run_output import (
    RunOutput,
    RunReport,
    failure_report,
    note_line,
    report_line,
    stopped_report,
)
from hermes_acp.frontends.cli.run.run_session import folders_of, open_session
from hermes_acp.sessions.session import Session
from hermes_acp.shutdown import ShutdownGuard
from hermes_acp.telemetry.trace_context import valid_trace_parent
from hermes_protocol.descriptors import claim


def run_headless(options: argparse.Namespace) -> int:
    """Run the prompt to its end and return the exit code."""
    try:  # before the guard, whose pipes would reuse the numbers of closed descriptors
        in_fd, out_fd = claim(is_silent=False)  # with `2>&1`, the user wants both in one stream, in order
    except OSError as error:
        reason = error.strerror or str(error)
        raise BadRequest(run_messages.streams_closed(reason), hint=run_messages.CLOSED_HINT) from error
    guard = ShutdownGuard()
    guard.start()
    guard.watch_signals()
    return anyio.run(_HeadlessRun(options, in_fd, RunOutput(out_fd), guard).run)


class _HeadlessRun:
    """One run, from reading its prompt to its result."""

    def __init__(
        self, options: argparse.Namespace, in_fd: int, output: RunOutput, guard: ShutdownGuard
    ) -> None:
        self._options = options
        self._in_fd = in_fd
        self._output = output
        self._guard = guard
        self._environment = read_environment()
        self._session_id = ""

    async def run(self) -> int:
        """Run to the end and return the exit code. An error is also written as the result of the run."""
        try:
            return await self._run()
        except HermesError as error:
            with suppress(HermesError):  # if the output cannot be written, the original error matters
                self._write(failure_report(error, self._session_id))
            raise

    async def _run(self) -> int:
        app = App(self._chosen_environment(), overrides=self._overrides())
        with anyio.CancelScope() as scope:
            stop = _StopSignal(scope, self._guard)
            async with background_tasks(stop.listen):
                try:
                    prompt = await self._read_prompt(app)
                    if prompt is None:
                        return self._stopped(
                            ExitCode.TIMED_OUT, run_messages.timed_out(self._options.timeout)
                        )
                    async with background_tasks(app.keep):
                        return await self._converse(app, stop, prompt)
                finally:
                    with anyio.CancelScope(shield=True):
                        await app.aclose()
        return self._stopped(ExitCode.INTERRUPTED, run_messages.INTERRUPTED)

    async def _read_prompt(self, app: App) -> tuple[Part, ...] | None:
        """Return the prompt, or None if it did not arrive within the time of the run."""

        async def prepare() -> None:
            with suppress(HermesError):  # raised again when the model is needed
                await app.configuration.deps()

        options = self._options
        prompt_input = PromptInput(self._in_fd, note_line, prepare)
        with anyio.move_on_after(options.timeout):
            return await prompt_input.read(options, may_go_on=bool(options.resume or options.goes_on))
        return None

    async def _converse(self, app: App, stop: "_StopSignal", prompt: tuple[Part, ...]) -> int:
        usual_model = self._environment.variables.get(MODEL_VARIABLE, "")
        session, news = await open_session(app, self._options, usual_model)
        self._session_id = session.id
        reporter = RunReporter(session.id, self._options.output_format, self._output.write, note_line)
        reporter.show(session.record.opening())
        for event in news:
            reporter.show(event)
        session.ledger.admit(reporter)
        gate = UnattendedGate()
        stop.aim_at(session)
        commission = Commission(trace_parent=valid_trace_parent(self._environment.trace_parent))
        if prompt:
            end = await session.prompt(prompt, gate, commission=commission)
        else:
            end = await session.go_on(gate, commission)
        return reporter.finish(end, was_refused=bool(gate.needed - reporter.completed))

    def _stopped(self, exit_code: int, sentence: str) -> int:
        """Report that the run was stopped outside of a turn; return the exit code."""
        note_line(run_messages.run_failed(sentence))
        self._write(stopped_report(exit_code, sentence, self._session_id))
        return exit_code

    def _write(self, report: RunReport) -> None:
        """Write the result of a run that ended outside of a turn, if the output format has one."""
        if self._options.output_format != "text":
            self._output.write(report_line(report))

    def _chosen_environment(self) -> Environment:
        environment = structs.replace(self._environment, allows_bypass=self._options.allow_bypass)
        return with_model(environment, self._options.model)

    def _overrides(self) -> dict[str, Any]:
        options = self._options
        flags = {
            "backend": options.backend,
            "budget.max_steps": options.max_steps,
            "budget.max_tokens": options.max_tokens,
            "budget.max_cost_usd": options.max_cost,
            "budget.timeout_s": options.timeout,
        }
        if options.allow:
            from hermes_acp.frontends.cli.run.allowed_calls import allowing_rules

            flags["rules"] = allowing_rules(options.allow, folders_of(options))
        return {name: value for name, value in flags.items() if value is not None}


class _StopSignal:
    """Stops the run at a signal or, once a turn is running that can end cleanly, that turn."""

    def __init__(self, scope: anyio.CancelScope, guard: ShutdownGuard) -> None:
        self._scope = scope
        self._guard = guard
        self._session: Session | None = None

    def aim_at(self, session: Session) -> None:
        """Let signals end only the session's turn from now on, so that it is recorded and reported."""
        self._session = session

    async def listen(self) -> None:
        """Handle signals, concurrently with the run."""
        while True:
            await self._guard.stopped()
            if self._session:
                self._session.cancel()
            else:
                self._scope.cancel()
