"""Custom tools in child processes: what each declaration permits with either kind of sandbox, and how calls end."""

import os
import socket
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from hermes_acp.app.confinement import guarded_names
from hermes_acp.core.denied_paths import DeniedPath
from hermes_acp.core.errors import WorkspaceError
from hermes_acp.core.messages import ToolMessage
from hermes_acp.core.policy_rules import Rule
from hermes_acp.policy.rule_set import RuleSet
from hermes_acp.tools.custom.tool_checker import check_tool_source
from hermes_acp.tools.custom.tool_failures import MAX_CONSECUTIVE_FAILURES
from hermes_acp.tools.custom.tool_sandbox import SessionFolders, ToolRunResult, ToolSandboxes
from hermes_acp.workspaces.processes.process_table import list_processes
from hermes_acp.workspaces.sandbox.mechanisms.sandbox_detection import (
    DetectedSandbox,
    SandboxMechanism,
    detect_landlock,
    detect_sandbox,
)
from hermes_acp.workspaces.sandbox_setup import sandbox_bounds
from tests.attacks.sandboxes import WAYS, require
from tests.conversations.app_scene import Scene
from tests.conversations.fake_editor import ShownSession, allow
from tests.conversations.scripted_provider import call, step

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


class Bench:
    """A project, a home that nothing may see, and tools that run there."""

    def __init__(self, place: Path, way: SandboxMechanism) -> None:
        find = detect_landlock if way == "landlock" else detect_sandbox
        require(way, find({"PATH": os.defpath}, ()))
        self.place = place.resolve()
        self.project, self.home, self.temporary = (
            self.place / name for name in ("project", "home", "temporary")
        )
        for folder in (self.project, self.home, self.temporary):
            folder.mkdir()
        (self.project / "a.txt").write_text("hello")
        (self.project / ".ssh").mkdir()
        (self.project / ".ssh" / "id").write_text("secret")
        (self.home / "token").write_text("secret")
        variables = {
            "PATH": os.defpath,
            "TMPDIR": str(self.temporary),
            "API_KEY": "secret",
            "HOME": str(self.home),
        }
        self.rules: Sequence[Rule] = ()
        self._cells = ToolSandboxes(
            variables,
            lambda: sandbox_bounds(None, guarded_names()),
            lambda ip: True,
            str(self.home),
            find,
            denied_paths_for=self._shut,
        )

    def _shut(self, place: str, tools: Sequence[str]) -> tuple[DeniedPath, ...]:
        return RuleSet(self.rules, place).denied_paths(tools)

    async def run(
        self, body: str, /, *, arguments: dict[str, Any] | None = None, **facts: object
    ) -> ToolRunResult:
        """Run a tool with this body; nothing of it remains."""
        declaration = {"name": "probe", "description": "Probe.", "timeout_s": 50} | facts
        names = ", ".join(f"{name}: Any" for name in arguments or {})
        source = f"TOOL = {declaration!r}\ndef run({names}):\n" + "".join(
            f"    {line}\n" for line in body.splitlines()
        )
        declared = check_tool_source(source, "probe").declaration
        assert declared, check_tool_source(source, "probe").faults
        session_folders = SessionFolders(str(self.project), (str(self.project),))
        with anyio.fail_after(90):
            outcome = await self._cells.run(declared, source, arguments or {}, session_folders)
        assert os.listdir(self.temporary) == []
        return outcome


@pytest.fixture(params=WAYS)
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Bench:
    return Bench(tmp_path, request.param)


async def test_arguments_are_passed_in_and_json_comes_out(bench: Bench) -> None:
    outcome = await bench.run("print('on the way')\nreturn {'twice': n * 2}", arguments={"n": [1, "é"]})
    assert outcome == ToolRunResult(text='{"twice": [1, "é", 1, "é"]}', printed="on the way\n")
    assert await bench.run("return 'é' * 50_000") == ToolRunResult(text="é" * 50_000)
    assert len((await bench.run("return 'x' * 5_000_000")).text) < 250_000
    assert len((await bench.run("print('x' * 5_000_000)")).printed) < 50_000


async def test_files_are_read_only_unless_writing_is_declared(bench: Bench) -> None:
    body = "open('b.txt', 'w').write(open('a.txt').read())\nreturn 'written'"
    refused = await bench.run(body)
    assert "OSError" in refused.crash or "PermissionError" in refused.crash
    assert not (bench.project / "b.txt").exists()
    allowed = body.replace("b.txt", "a.txt")
    assert (await bench.run(allowed, files="write")).text == "written"
    assert "a.txt" in (await bench.run("open('a.txt')", files="none")).crash


async def test_nothing_else_on_the_machine_is_seen_or_changed(bench: Bench) -> None:
    outside = bench.place / "outside.txt"
    outside.write_text("canary")
    for path in (bench.home / "token", outside, bench.project / ".ssh" / "id"):
        for files in ("none", "read", "write"):
            seen = await bench.run(f"return open({str(path)!r}).read()", files=files)
            assert seen.crash, (path, files)
    await bench.run(f"open({str(outside)!r}, 'w').write('x')", files="write")
    assert outside.read_text() == "canary"
    for name in (".env", "deploy/.env", "deploy/live/server.pem"):
        path = bench.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("secret")
        for files in ("read", "write"):
            seen = await bench.run(f"return open({name!r}).read()", files=files)
            assert "secret" not in seen.text, (name, files)
    shown = await bench.run("import os\nreturn dict(os.environ)")
    assert "secret" not in shown.text
    assert "ModuleNotFoundError" in (await bench.run("__import__('hermes_acp')")).crash
    assert "ModuleNotFoundError" in (await bench.run("__import__('msgspec')")).crash


READ_ALL = (
    "import os\n"
    "words = []\n"
    "for folder, _, names in os.walk('.'):\n"
    "    for name in names:\n"
    "        try:\n"
    "            words.append(open(os.path.join(folder, name)).read())\n"
    "        except OSError:\n"
    "            pass\n"
    "return ' '.join(words)"
)


async def test_keys_appear_empty_at_any_depth(bench: Bench) -> None:
    for name in ("a/b/c/d/e/.env", "node_modules/x/y/server.pem", ".git/modules/sub/config"):
        path = bench.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("https://me:secret@example.com/")
    (bench.project / ".git/config").write_text("[remote]\nurl = https://ghp_secret@example.com/a\n")
    for files in ("read", "write"):
        seen = await bench.run(READ_ALL, files=files)
        assert "secret" not in seen.text, (files, seen)
        assert "hello" in seen.text, (files, seen)
        assert not seen.unseen


async def test_a_repository_without_keys_can_be_read_completely(bench: Bench) -> None:
    (bench.project / ".git").mkdir()
    (bench.project / ".git/config").write_text("[core]\nbare = false\nurl = git@example.com:a/b\n")
    assert "bare = false" in (await bench.run("return open('.git/config').read()")).text


async def test_rules_also_apply_to_tools_whose_file_access_needs_no_approval(bench: Bench) -> None:
    bench.rules = (
        Rule("deny", path="vault/**"),
        Rule("ask", path="**/*.ledger"),
        Rule("deny", tool="probe", path="mine.txt"),
        Rule("deny", tool="other", path="a.txt"),
    )
    for name in ("vault/x", "p/q/r/book.ledger", "mine.txt"):
        (bench.project / name).parent.mkdir(parents=True, exist_ok=True)
        (bench.project / name).write_text("secret")
    for files in ("read", "write"):
        seen = await bench.run(READ_ALL, files=files)
        assert "secret" not in seen.text, (files, seen)
        assert "hello" in seen.text, (files, seen)


async def test_programs_are_started_only_if_that_is_declared(bench: Bench) -> None:
    start = "__import__('subprocess').run(['true'], check=True)\nreturn 'started'"
    fork = "import os\nreturn os.fork()"
    replaced = "import os\nos.execv('/bin/true', ['true'])"
    for body in (start, fork, replaced):
        assert "PermissionError" in (await bench.run(body)).crash
    assert (await bench.run(start, processes=True)).text == "started"
    thread = (
        "import threading\nt = threading.Thread(target=print, args=('in a thread',))\nt.start(); t.join()"
    )
    assert (await bench.run(thread)).printed == "in a thread\n"


@contextmanager
def greeter() -> Generator[int]:
    """Serve HTTP on a port of this machine."""
    with socket.create_server(("127.0.0.2", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    client, _ = server.accept()
                except OSError:
                    return
                with client:
                    client.recv(65536)
                    client.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello")

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield server.getsockname()[1]
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join(10)


async def test_only_declared_hosts_are_reached(tmp_path: Path) -> None:
    bench = Bench(tmp_path, "bubblewrap")
    with greeter() as port:
        fetch = f"u = __import__('urllib.request').request\nreturn u.urlopen('http://127.0.0.2:{port}/').read().decode()"
        direct = f"s = __import__('socket')\ns.create_connection(('127.0.0.2', {port}), 5)"
        assert (await bench.run(fetch, network=[f"127.0.0.2:{port}"])).text == "hello"
        assert (await bench.run(fetch, network=["example.com"])).crash
        assert (await bench.run(fetch)).crash
        assert (await bench.run(direct)).crash
        assert (await bench.run(direct, network=["example.com"])).crash


async def test_without_bubblewrap_no_tool_has_a_network(tmp_path: Path) -> None:
    bench = Bench(tmp_path, "landlock")
    with pytest.raises(WorkspaceError, match="only bubblewrap"):
        await bench.run("pass", network=["example.com"])


async def test_without_a_sandbox_no_tool_runs(tmp_path: Path) -> None:
    cells = ToolSandboxes(
        {},
        lambda: sandbox_bounds(None, guarded_names()),
        lambda ip: True,
        "",
        lambda variables, roots: DetectedSandbox("none", "", "None."),
    )
    source = 'TOOL = {"name": "probe", "description": "Probe."}\ndef run(): pass'
    declared = check_tool_source(source, "probe").declaration
    assert declared
    with pytest.raises(WorkspaceError, match="only run in a sandbox"):
        await cells.run(declared, source, {}, SessionFolders(str(tmp_path), (str(tmp_path),)))
    with pytest.raises(WorkspaceError, match="whole machine"):
        await cells.run(declared, source, {}, SessionFolders("/", ("/",)))


async def test_an_endless_loop_is_ended_with_everything_it_started(bench: Bench) -> None:
    nap = f"4321.{os.getpid()}"  # No other test's.
    body = (
        f"import subprocess\nsubprocess.Popen(['sleep', '{nap}'], start_new_session=True)\nwhile True: pass"
    )
    outcome = await bench.run(body, processes=True, timeout_s=1)
    assert "time limit of 1 s" in outcome.crash
    assert not sleepers(nap)


async def test_a_stopped_call_leaves_nothing(bench: Bench) -> None:
    nap = f"4322.{os.getpid()}"
    body = (
        f"import subprocess\nsubprocess.Popen(['sleep', '{nap}'])\nopen('up', 'w').close()\nwhile True: pass"
    )
    (bench.project / "up").write_text("not yet")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: bench.run(body, processes=True, files="write"))
        with anyio.fail_after(60):
            while (bench.project / "up").read_text():
                await anyio.sleep(0.01)
        tasks.cancel_scope.cancel()
    assert not sleepers(nap)
    assert os.listdir(bench.temporary) == []


async def test_a_fork_bomb_stays_small(bench: Bench) -> None:
    body = (
        "import os, time\n"
        "for _ in range(12):\n"
        "    try: os.fork()\n"
        "    except OSError: pass\n"
        "time.sleep(0.5)\n"
        "if os.getpid() != first: os._exit(0)\n"
        "return 'ended'"
    )
    outcome = await bench.run(f"import os\nfirst = os.getpid()\n{body}", processes=True)
    assert outcome.text == "ended" or outcome.crash
    assert [pid for pid in list_processes() if stands_in(pid, bench.project)] == []


async def test_calls_that_end_without_an_answer_or_with_an_error(bench: Bench) -> None:
    assert "exit code 3" in (await bench.run("import os\nos._exit(3)")).crash
    assert (await bench.run("import sys\nsys.exit('No such branch.')")).failed == "No such branch."
    assert (await bench.run("import sys\nsys.exit()")) == ToolRunResult()
    assert "is not JSON serializable" in (await bench.run("return {1, 2}")).crash
    crash = (await bench.run("return (lambda: 1 / 0)()")).crash
    assert crash.startswith('Traceback (most recent call last):\n  File "probe.py", line 3')
    assert "ZeroDivisionError" in crash
    assert "MemoryError" in (await bench.run("return len(bytearray(3 << 30))")).crash


def stands_in(pid: int, folder: Path) -> bool:
    try:
        return os.readlink(f"/proc/{pid}/cwd") == str(folder)
    except OSError:
        return False


def sleepers(seconds: str) -> Sequence[int]:
    found: list[int] = []
    for pid in list_processes():
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if seconds.encode() in words:
            found.append(pid)
    return found


async def test_a_tool_written_in_one_turn_is_used_in_the_next(scene: Scene) -> None:
    text = 'TOOL = {"name": "greet", "description": "Greet."}\ndef run(name: str): return f"Hello, {name}!"\n'
    broken = text.replace('f"Hello, {name}!"', "name / 2")
    scene.provider.plays(
        step(call("tool_manage", "w1", action="create", name="greet", reason="Often.", text=text)), step("Written."),
        step(call("greet", "g1", name="Ada")), step("Done."),
        step(call("greet", "g2", name=3)), step("Done."),
        step(call("tool_manage", "w2", action="patch", name="greet", reason="So.", old_text='f"Hello, {name}!"',
                  text="name / 2")), step("Changed."),
        *(each for number in range(MAX_CONSECUTIVE_FAILURES + 1)
          for each in (step(call("greet", f"b{number}", name="Ada")), step("Hm."))),
    )  # fmt: skip
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        for _ in range(4 + MAX_CONSECUTIVE_FAILURES + 1):
            await editor.prompt(session)
        reported = ShownSession(editor, session)
    outcomes = [m.text for m in scene.provider.requests[-1].messages if isinstance(m, ToolMessage)]
    assert "Hello, Ada!" in outcomes[1]
    assert "untrusted" in outcomes[1]
    assert "is not of type 'string'" in outcomes[2]
    assert 'File "greet.py", line 2, in run' in outcomes[4]
    assert "1 in a row" in outcomes[4]
    assert "is disabled" in outcomes[-2]
    assert "There is no tool 'greet'" in outcomes[-1]
    assert reported.cards["g1"]["status"] == "completed"
    assert reported.cards["b0"]["status"] == "failed"
    assert (scene.home / "tools" / "greet.py").read_text() == broken
    assert len(editor.asks("session/request_permission")) == 2


async def test_an_editor_can_stop_a_running_tool(scene: Scene) -> None:
    text = 'TOOL = {"name": "spin", "description": "Spin."}\ndef run():\n    while True: pass\n'
    scene.provider.plays(
        step(call("tool_manage", "w1", action="create", name="spin", reason="Often.", text=text)),
        step("Written."),
        step(call("spin", "s1")),
    )
    async with scene.editor() as editor:
        editor.on["session/request_permission"] = allow("allow_once")
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        async with anyio.create_task_group() as tasks:

            async def prompt() -> None:
                assert await editor.prompt(session) == "cancelled"

            tasks.start_soon(prompt)
            await editor.until(lambda: "in_progress" in ShownSession(editor, session).statuses("s1"))
            editor.cancel(session)
        assert ShownSession(editor, session).cards["s1"]["status"] == "failed"
