"""Tests that every workspace must pass, on each available backend."""

import os
import re
import socket
from collections.abc import AsyncGenerator, Callable
from pathlib import Path

import anyio
import pytest

from hermes_acp.core.errors import OutsideRoots, WorkspaceError
from hermes_acp.core.ports.workspace_ports import Command, CommandResult, SearchQuery, Workspace
from hermes_acp.workspaces.backends.local import BACKEND
from hermes_acp.workspaces.processes.process_table import list_processes
from tests.contract.conftest import LeftOver
from tests.contract.workspace_suite import Report

pytestmark = pytest.mark.anyio
PATH = os.defpath
Opener = Callable[[Path], Workspace]


@pytest.fixture(params=["local"])
async def open_workspace(request: pytest.FixtureRequest) -> AsyncGenerator[Opener]:
    opened: list[Workspace] = []

    def open_local(folder: Path) -> Workspace:
        variables = {"PATH": PATH, "API_KEY": "hunter2", "ENV": "x"}
        opened.append(BACKEND.open(str(folder), (str(folder),), variables))
        return opened[-1]

    yield {"local": open_local}[request.param]
    for workspace in opened:
        await workspace.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path.resolve() / "project"
    place.mkdir()
    return place


@pytest.fixture
def workspace(open_workspace: Opener, folder: Path) -> Workspace:
    return open_workspace(folder)


async def run(workspace: Workspace, line: str, timeout_s: float = 30) -> CommandResult:
    with anyio.fail_after(60):
        return await workspace.run(Command(line, workspace.cwd, timeout_s), Report())


def is_running(pid: int) -> bool:
    row = list_processes().get(pid)
    return row is not None and not row.is_dead


async def test_written_bytes_are_read_back_and_folders_are_created(workspace: Workspace) -> None:
    path = workspace.locate("a/b/c.bin")
    assert await workspace.read(path) is None
    await workspace.write(path, b"\0\xff\r\n")
    assert await workspace.read(path) == b"\0\xff\r\n"
    await workspace.write(path, b"")
    assert await workspace.read(path) == b""
    assert os.listdir(os.path.dirname(path)) == ["c.bin"]


@pytest.mark.parametrize("mode", [0o755, 0o600, 0o664])
async def test_writing_keeps_the_mode(workspace: Workspace, folder: Path, mode: int) -> None:
    (folder / "run.sh").write_text("old")
    (folder / "run.sh").chmod(mode)
    await workspace.write(workspace.locate("run.sh"), b"new")
    assert (folder / "run.sh").stat().st_mode & 0o7777 == mode
    assert (folder / "run.sh").read_text() == "new"


async def test_writing_to_a_hard_link_is_refused(workspace: Workspace, folder: Path) -> None:
    outside = folder.parent / "outside.txt"
    outside.write_text("theirs")
    os.link(outside, folder / "linked.txt")
    with pytest.raises(WorkspaceError, match="2 hard links"):
        await workspace.write(workspace.locate("linked.txt"), b"mine")
    assert outside.read_text() == "theirs"


async def test_entries_are_sorted_and_folders_marked(workspace: Workspace, folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "b.txt").write_bytes(b"12345")
    (folder / ".hidden").touch()
    (folder / "broken").symlink_to("nowhere")
    found = [(entry.name, entry.size_bytes) for entry in await workspace.entries(workspace.cwd)]
    assert found == [(".hidden", 0), ("b.txt", 5), ("broken", len("nowhere")), ("sub/", 0)]
    with pytest.raises(WorkspaceError, match="no folder"):
        await workspace.entries(str(folder / "missing"))


@pytest.mark.parametrize(
    "path",
    [
        "../secret.txt",
        "sub/../../secret.txt",
        "/etc/passwd",
        "/proc/self/environ",
        "way-out/secret.txt",
        "way-out",
        "dangling",
        "file:///etc/passwd",
        "file:///etc/%70asswd",
        "../project-twin/x",
        "",
        "a\0b",
        "x/" * 3000,
        "loop",
        "loop/x",
        "file://elsewhere/etc/passwd",
        "\ud800",
    ],
)
async def test_paths_that_lead_outside_are_rejected(workspace: Workspace, folder: Path, path: str) -> None:
    (folder.parent / "secret.txt").write_text("secret")
    (folder.parent / "project-twin").mkdir()
    (folder / "sub").mkdir()
    (folder / "way-out").symlink_to(folder.parent)
    (folder / "dangling").symlink_to(folder.parent / "not-yet")
    (folder / "loop").symlink_to("loop")
    with pytest.raises(WorkspaceError):
        workspace.locate(path)
    with pytest.raises(WorkspaceError):
        await workspace.read(path)
    with pytest.raises(WorkspaceError):
        await workspace.write(path, b"x")
    with pytest.raises(WorkspaceError):
        await workspace.entries(path)
    assert (folder.parent / "secret.txt").read_text() == "secret"
    assert not (folder.parent / "not-yet").exists()


async def test_an_outside_path_is_reported_with_the_roots(workspace: Workspace) -> None:
    with pytest.raises(OutsideRoots, match=re.escape("/etc/passwd")) as caught:
        workspace.locate("/etc/passwd")
    assert workspace.roots[0] in caught.value.sentence()


async def test_paths_inside_resolve(workspace: Workspace, folder: Path) -> None:
    (folder / "real").mkdir()
    (folder / "link").symlink_to("real")
    assert workspace.locate("link/new/file") == str(folder / "real/new/file")
    assert workspace.locate(f"file://{folder}/a%20b") == str(folder / "a b")
    assert workspace.locate("~/x") == str(folder / "~/x")
    assert workspace.locate(".") == str(folder)


async def test_a_link_swapped_in_after_locate_is_not_followed(workspace: Workspace, folder: Path) -> None:
    (folder / "sub").mkdir()
    path = workspace.locate("sub/file")
    (folder / "sub").rmdir()
    (folder.parent / "elsewhere").mkdir()
    (folder / "sub").symlink_to(folder.parent / "elsewhere")
    with pytest.raises(WorkspaceError):
        await workspace.write(path, b"x")
    (folder / "sub").unlink()
    (folder / "other").mkdir()
    (folder / "sub").symlink_to("other")
    with pytest.raises(WorkspaceError, match="symbolic link"):
        await workspace.write(path, b"x")
    assert os.listdir(folder.parent / "elsewhere") == os.listdir(folder / "other") == []


async def test_only_regular_files_of_limited_size_are_read(workspace: Workspace, folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    (folder / "sub").mkdir()
    with (folder / "huge").open("wb") as file:
        file.truncate(100_000_000)
    with socket.socket(socket.AF_UNIX) as listening:
        address = f"/proc/self/fd/{os.open(folder, os.O_RDONLY)}/socket"
        listening.bind(address)
        os.close(int(address.split("/")[4]))
        kinds = {"pipe": "named pipe", "sub": "folder", "huge": "100,000,000", "socket": "socket"}
        with anyio.fail_after(60):
            for name, said in kinds.items():
                with pytest.raises(WorkspaceError, match=said):
                    await workspace.read(workspace.locate(name))
            for name in ("pipe", "sub", "socket"):
                with pytest.raises(WorkspaceError):
                    await workspace.write(workspace.locate(name), b"x")


async def test_search_respects_ignore_files_and_finds_hidden_files(
    workspace: Workspace, folder: Path
) -> None:
    for name in ("a.py", "sub/b.txt", ".hidden/c.py", ".git/d.py", "built/e.py"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("one\nneedle here\n")
    (folder / ".gitignore").write_text("built/\n")
    (folder / "latin.txt").write_bytes(b"n\xe9edle needle\n")
    everywhere = await workspace.search(SearchQuery("ne+dle", workspace.cwd))
    names = [(match.path.removeprefix(f"{folder}/"), match.line) for match in everywhere]
    assert names == [(".hidden/c.py", 2), ("a.py", 2), ("latin.txt", 1), ("sub/b.txt", 2)]
    assert everywhere[2].text == "n\N{REPLACEMENT CHARACTER}edle needle"
    narrowed = await workspace.search(SearchQuery("needle", workspace.cwd, "*.py"))
    assert [match.path for match in narrowed] == [str(folder / ".hidden/c.py"), str(folder / "a.py")]
    assert [m.line for m in await workspace.search(SearchQuery("needle", str(folder / "a.py")))] == [2]
    ignored = await workspace.search(SearchQuery("needle", workspace.cwd, "built/**"))
    assert ignored == [], "a glob does not include ignored files"
    assert await workspace.search(SearchQuery("absent", workspace.cwd)) == []
    with pytest.raises(WorkspaceError, match="unclosed group"):
        await workspace.search(SearchQuery("(", workspace.cwd))
    with pytest.raises(OutsideRoots):
        await workspace.search(SearchQuery("x", "/etc"))


async def test_search_stops_at_the_limit_and_cuts_lines(workspace: Workspace, folder: Path) -> None:
    (folder / "many").write_text("needle\n" * 200_000)
    with anyio.fail_after(30):
        assert len(await workspace.search(SearchQuery("needle", workspace.cwd, limit=7))) == 7
    (folder / "many").write_text("x" * 1_000_000 + "needle" + "y" * 20_000_000 + "\nneedle\n")
    found = await workspace.search(SearchQuery("needle", workspace.cwd))
    assert [match.line for match in found] == [1, 2]
    assert "too long to show" in found[0].text
    assert found[1].text == "needle"


async def test_run_reports_output_and_exit_code(workspace: Workspace) -> None:
    assert await run(workspace, "echo out; echo err >&2; exit 3") == CommandResult("out\nerr\n", 3)
    assert (await run(workspace, "kill -SEGV $$")).exit_code == 139
    assert (await run(workspace, "pwd")).output == f"{workspace.cwd}\n"
    assert await run(workspace, "cat") == CommandResult("", 0)


async def test_run_hides_secrets_and_pagers(workspace: Workspace) -> None:
    output = (await run(workspace, "env")).output
    variables = dict(line.split("=", 1) for line in output.splitlines() if "=" in line)
    assert "hunter2" not in output
    assert "ENV" not in variables
    quiet = {"PAGER": "cat", "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0", "TERM": "dumb"}
    assert quiet.items() <= variables.items()
    assert "HERMES_CALL_ID" in variables


async def test_run_rejects_folders_outside_and_unusable_commands(workspace: Workspace, folder: Path) -> None:
    with pytest.raises(OutsideRoots):
        await workspace.run(Command("pwd", "/", 5), Report())
    for command in (Command("pwd", str(folder / "missing"), 5), Command("a\0b", str(folder), 5)):
        with pytest.raises(WorkspaceError):
            await workspace.run(command, Report())
    with pytest.raises(WorkspaceError, match="list too long"):
        await workspace.run(Command("#" * 3_000_000, str(folder), 5), Report())


async def test_fifty_megabytes_of_output_are_truncated(workspace: Workspace) -> None:
    report = Report()
    with anyio.fail_after(60):
        line = "echo first; head -c 50000000 /dev/zero | tr '\\0' x; echo; echo last"
        end = await workspace.run(Command(line, workspace.cwd, 60), report)
    assert report.length == 50_000_012
    assert report.longest <= 64 * 1024 < len(end.output) < 70_000
    assert (end.output[:6], end.output[-5:]) == ("first\n", "last\n")
    assert "of 50,000,012 bytes left out" in end.output


async def test_output_is_decoded_across_chunks(workspace: Workspace) -> None:
    report = Report()
    end = await workspace.run(
        Command("printf '\\303'; sleep 0.1; printf '\\251 \\377'", workspace.cwd, 30), report
    )
    assert end.output == report.text == "é \N{REPLACEMENT CHARACTER}"


STUBBORN = {
    "plain": "echo $$ ready; sleep 1000; echo",
    "ignores SIGTERM": "trap '' TERM; echo $$ ready; while :; do sleep 1000; done",
    "pipeline": "(echo $BASHPID ready; sleep 1000; echo) | cat",
    "daemon": "nohup setsid sh -c 'trap \"\" TERM; echo $$ ready; sleep 1000; echo' & sleep 1000; echo",
    "orphan": "(setsid sh -c 'echo $$ ready; sleep 1000; echo' &); sleep 1000; echo",
    "nameless child": "env -i setsid sh -c 'echo $$ ready; sleep 1000; echo' & sleep 1000; echo",
    "stopped": "echo $$ ready; kill -STOP $$",
}


@pytest.mark.parametrize("line", STUBBORN.values(), ids=STUBBORN.keys())
async def test_cancelling_leaves_no_process(workspace: Workspace, line: str, left_over: LeftOver) -> None:
    report = Report()
    started: list[int] = []
    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            group.start_soon(workspace.run, Command(line, workspace.cwd, 600), report)
            await report.seen.wait()
            started.append(int(report.text.split()[-2]))
            assert is_running(started[0])
            group.cancel_scope.cancel()
    assert not is_running(started[0])
    assert not left_over()


async def test_cancelling_while_starting_leaves_no_process(workspace: Workspace, left_over: LeftOver) -> None:
    with anyio.CancelScope() as scope:
        scope.cancel()
        await workspace.run(Command("sleep 1000", workspace.cwd, 600), Report())
    assert not left_over()


async def test_a_timeout_ends_everything_and_keeps_the_output(
    workspace: Workspace, left_over: LeftOver
) -> None:
    line, timeout_s = "trap '' TERM; echo $$; nohup setsid sleep 1000 & sleep 1000; echo", 0.3
    while not (end := await run(workspace, line, timeout_s)).output:
        timeout_s *= 3  # It had not even started to answer.
    assert (end.timed_out, end.exit_code) == (True, None)
    assert not is_running(int(end.output.split()[0]))
    assert not left_over()


async def test_background_children_do_not_delay_the_call(
    open_workspace: Opener, folder: Path, left_over: LeftOver
) -> None:
    workspace = open_workspace(folder)
    with anyio.fail_after(30):
        end = await workspace.run(Command("setsid sleep 1000 & echo $!", str(folder), 600), Report())
    pid = int(end.output.split()[0])
    assert end.exit_code == 0
    assert "still running" in end.output
    assert is_running(pid)
    with anyio.fail_after(30):
        await workspace.close()
    assert not is_running(pid)
    assert not left_over()


@pytest.mark.parametrize("prefix", ["", "setsid "])
async def test_background_children_that_ended_are_reaped(
    workspace: Workspace, prefix: str, left_over: LeftOver
) -> None:
    pipe = f"{workspace.cwd}/pipe"
    os.mkfifo(pipe)
    end = await run(workspace, f"{prefix}cat {pipe} >/dev/null 2>&1 & echo $!")
    pid = int(end.output.split()[0])
    with anyio.fail_after(30):
        assert (await run(workspace, f"echo >{pipe}")).exit_code == 0
        while is_running(pid):
            await anyio.sleep(0.01)
    await run(workspace, "true")
    assert not left_over()


async def test_orphans_that_ended_before_their_command_are_reaped(
    workspace: Workspace, left_over: LeftOver
) -> None:
    lives = "grep -qs '^State:[[:space:]]*[^ZX[:space:]]' /proc/$(cat it)/status"
    line = f"(sh -c 'echo $$ >it.new; mv it.new it' &); until [ -e it ] && ! {lives}; do sleep 0.01; done"
    assert (await run(workspace, line)).exit_code == 0
    assert not left_over()


async def test_commands_and_searches_run_concurrently(workspace: Workspace, folder: Path) -> None:
    (folder / "a").write_text("needle\n")
    ends: list[CommandResult] = []

    async def one(number: int) -> None:
        ends.append(await run(workspace, f"sleep 0.0{number % 5}; exit {number}"))
        assert len(await workspace.search(SearchQuery("needle", workspace.cwd))) == 1

    async with anyio.create_task_group() as group:
        for number in range(20):
            group.start_soon(one, number)
    assert sorted(end.exit_code or 0 for end in ends) == list(range(20))
