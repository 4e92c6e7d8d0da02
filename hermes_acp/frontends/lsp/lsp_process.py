"""Run the server's event loop, and handle its signals.

SIGTERM, SIGINT and SIGHUP end it, as does the end of the input. pygls would run its own loop; our loop runs its
protocol instead (decision 11).
"""

import anyio

from hermes_acp.agent.background_tasks import background_tasks
from hermes_acp.config.environment import Environment
from hermes_acp.frontends.lsp import messages
from hermes_acp.frontends.lsp.editor.editor_connection import EditorConnection
from hermes_acp.frontends.lsp.editor.method_registration import register_all
from hermes_acp.frontends.lsp.server.lsp_transport import LspTransport, log_line
from hermes_acp.frontends.lsp.server.pygls_server import PyglsServer, make_server
from hermes_acp.frontends.lsp.server.request_tasks import RequestTasks
from hermes_acp.ids import RandomIds
from hermes_acp.shutdown import ShutdownGuard, code_after
from hermes_acp.storage.descriptor_limit import raise_limit
from hermes_acp.telemetry.bug_log import BugLog
from hermes_protocol.transport import StdioTransport


def run(environment: Environment, wire: tuple[int, int]) -> int:
    """Serve until the editor or a signal ends the process; return the exit code."""
    guard = ShutdownGuard(wire[0])
    raise_limit()
    guard.start()
    guard.watch_signals()
    return anyio.run(_serve, environment, wire, guard)


async def _serve(environment: Environment, descriptors: tuple[int, int], guard: ShutdownGuard) -> int:
    server = make_server()
    wire = LspTransport(StdioTransport(*descriptors), server)
    code = 0

    async def stop_on_signal() -> None:
        nonlocal code
        code = code_after(await guard.stopped())
        wire.close()

    async with background_tasks(stop_on_signal), background_tasks(wire.send):
        await _serve_editor(environment, wire, server)
        await wire.close_when_written()
    return code or wire.exit_code


async def _serve_editor(environment: Environment, wire: LspTransport, server: PyglsServer) -> None:
    """Serve one editor until it disconnects; then stop running work and close everything."""
    bugs = BugLog(environment.home)

    def report_bug(error: BaseException, trace: str) -> None:
        log_line(messages.internal_error_logged(trace, str(bugs.path)))
        bugs.report(error, trace)

    async with anyio.create_task_group() as group:
        editor = EditorConnection(server, environment, RequestTasks(group, report_bug, RandomIds()))
        register_all(server, editor)
        group.start_soon(_run_app, environment, editor)
        try:
            await wire.listen(editor.tasks.attempt)
        finally:
            group.cancel_scope.cancel()


async def _run_app(environment: Environment, editor: EditorConnection) -> None:
    """Build the app after the editor has been initialized, so that the response does not wait for it."""
    await editor.is_initialized.wait()
    from hermes_acp.app.app import App

    app = App(environment)
    try:
        async with background_tasks(app.run):
            editor.set_app(app)
            await anyio.sleep_forever()
    finally:
        with anyio.CancelScope(shield=True):
            await app.aclose()
