"""Coding rules that the app depends on, checked in its source."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.architecture.sources import name_of, nodes_of, python_files, tree_of

SOURCES = python_files("hermes_acp", "protocol", "scanner")
CATCHES_EVERYTHING = frozenset(
    {
        "protocol/hermes_protocol/connection.py",
        "hermes_acp/agent/calls/tool_calls.py",
        "hermes_acp/frontends/gateway/conversations/message_content.py",
        "hermes_acp/frontends/gateway/delivery/message_sender.py",
        "hermes_acp/frontends/gateway/platform_runner.py",
        "hermes_acp/frontends/library/host_tool.py",
        "hermes_acp/frontends/lsp/server/request_tasks.py",
        "hermes_acp/models/transcription/transcription_worker.py",
        "hermes_acp/sessions/clients/turn_tasks.py",
        "hermes_acp/runs/session_driver.py",
        "hermes_acp/telemetry/traces/session_tracer.py",
        "hermes_acp/training/trainer_process.py",
        "scanner/injection_scanner/scanner.py",
    }
)
READS_ENVIRONMENT = frozenset({"hermes_acp/config/home_folders.py"})
AMBIENT = frozenset({"os.getcwd", "Path.cwd", "os.environ", "os.environb", "os.getenv"})
MAY_PRINT = ("hermes_acp/frontends/cli/", "protocol/generate.py", "protocol/generator/")
FORBIDDEN_IMPORTS = frozenset({"asyncio", "unittest.mock"})
WITHOUT_END = frozenset({"os.read", "os.write", "webbrowser.open", "input", "fcntl.flock"})
WITHOUT_END_UNBOUND = frozenset(
    {
        "wait",
        "join",
        "acquire",
        "communicate",
        "recv",
        "accept",
        "serve_forever",
        "watch",
        "select",
        "poll",
        "getch",
    }
)
"""Calls that wait for something else unless they get a time limit."""
MUTABLE = ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp


def calls(path: Path) -> Iterator[tuple[int, str]]:
    for node in nodes_of(path):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            yield node.lineno, ast.unparse(node.func)


def names(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def imports(path: Path) -> Iterator[str]:
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_broad_excepts_are_only_at_the_boundaries() -> None:
    found = [
        f"{name_of(path)}:{node.lineno}"
        for path in SOURCES
        if name_of(path) not in CATCHES_EVERYTHING
        for node in nodes_of(path)
        if isinstance(node, ast.ExceptHandler) and (node.type is None or "Exception" in names(node.type))
    ]
    assert found == []


def test_no_ambient_state() -> None:
    found = [
        f"{name_of(path)}:{node.lineno}"
        for path in SOURCES
        for node in nodes_of(path)
        if isinstance(node, ast.Attribute) and ast.unparse(node) in AMBIENT
        if not (name_of(path) in READS_ENVIRONMENT and node.attr == "environ")
    ]
    assert found == []


def test_no_mutable_module_values() -> None:
    found = [
        f"{name_of(path)}:{node.lineno}"
        for path in SOURCES
        for node in tree_of(path).body
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, MUTABLE)
        if not (isinstance(node, ast.Assign) and [ast.unparse(name) for name in node.targets] == ["__all__"])
    ]
    assert found == []


def test_only_the_command_line_prints() -> None:
    found = [
        f"{name_of(path)}:{line}"
        for path in SOURCES
        if not name_of(path).startswith(MAY_PRINT)
        for line, name in calls(path)
        if name == "print"
    ]
    assert found == []


def test_anyio_and_real_parts_only() -> None:
    found = {name_of(path) for path in python_files() if FORBIDDEN_IMPORTS & set(imports(path))}
    # The load test's driver must not cost more than the event loop that it measures.
    assert {name for name in found if not name.startswith("bench/serving/")} == set()


def test_only_the_lsp_frontend_knows_that_protocol() -> None:
    found = [
        f"{name_of(path)}: {module}"
        for path in SOURCES
        if not name_of(path).startswith("hermes_acp/frontends/lsp/")
        for module in imports(path)
        if module.partition(".")[0] in ("pygls", "lsprotocol")
    ]
    assert found == []


def test_only_the_chat_draws_on_terminals() -> None:
    found = [
        f"{name_of(path)}: {module}"
        for path in SOURCES
        if not name_of(path).startswith("hermes_acp/frontends/chat/")
        for module in imports(path)
        if module.partition(".")[0] in ("rich", "prompt_toolkit")
    ]
    assert found == []


def test_only_the_full_screen_knows_textual() -> None:
    folder = "hermes_acp/frontends/chat/full_screen/"
    found = [
        f"{name_of(path)}: {module}"
        for path in SOURCES
        if not name_of(path).startswith(folder)
        for module in imports(path)
        if module.partition(".")[0] == "textual"
    ]
    assert found == []


def test_tests_wait_for_events_and_never_for_the_clock() -> None:
    found = [
        f"{name_of(path)}:{line}"
        for path in python_files("tests")
        for line, name in calls(path)
        if name == "time.sleep"
    ]
    assert found == []


def test_every_module_has_a_docstring() -> None:
    written = [path for path in SOURCES if "/generator/" not in name_of(path)]
    assert [name_of(path) for path in written if not ast.get_docstring(tree_of(path))] == []


def waits_without_end(
    work: ast.expr, defined: dict[str, ast.AST], seen: frozenset[str] = frozenset()
) -> bool:
    """Return whether a function passed to a worker thread waits without a time limit, in its own module."""
    name = ast.unparse(work) if isinstance(work, ast.Name | ast.Attribute) else ""
    if name in WITHOUT_END:
        return True
    last = name.rpartition(".")[2]
    if name and last not in defined:
        return last in WITHOUT_END_UNBOUND
    if last in seen:
        return False
    body = defined[last] if name else work
    if isinstance(work, ast.Call) and ast.unparse(work.func) in ("partial", "functools.partial"):
        return waits_without_end(work.args[0], defined, seen) and len(work.args) + len(work.keywords) == 1
    for node in ast.walk(body):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            called = ast.unparse(node.func)
            own = called.removeprefix("self.")
            if called in WITHOUT_END and "LOCK_NB" not in ast.unparse(node):
                return True
            if own in defined and waits_without_end(node.func, defined, seen | {last}):
                return True
            is_bound = bool(node.args or node.keywords) or own in defined
            if (
                isinstance(node.func, ast.Attribute)
                and node.func.attr in WITHOUT_END_UNBOUND
                and not is_bound
            ):
                return True
    return False


def hands_to_default_pool(path: Path) -> Iterator[tuple[int, ast.expr, bool]]:
    """Find functions passed to worker threads without their own limiter, and whether an argument follows."""
    for node in nodes_of(path):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(
            ("run_sync", "run_sync_in_worker_thread")
        ):
            is_thread = "from_thread" not in ast.unparse(node.func)
            if is_thread and node.args and "limiter" not in {each.arg for each in node.keywords}:
                yield node.lineno, node.args[0], len(node.args) > 1


def endless_waits(path: Path) -> list[str]:
    defined: dict[str, ast.AST] = {
        node.name: node for node in nodes_of(path) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    found: list[str] = []
    for line, work, has_arguments in hands_to_default_pool(path):
        is_bound = has_arguments and ast.unparse(work).rpartition(".")[2] in WITHOUT_END_UNBOUND
        if not is_bound and waits_without_end(work, defined):
            found.append(f"{name_of(path)}:{line}")
    return found


def test_endless_waits_have_their_own_limiter() -> None:
    """The default pool has 40 threads: 40 endless waits in it would block every session of the process."""
    assert [line for path in SOURCES for line in endless_waits(path)] == []
