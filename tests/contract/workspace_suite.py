"""Contract tests for every workspace, whichever backend it uses.

Subclasses have a fixture `ground`.
"""

import os
from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest
from msgspec import Struct

from hermes_acp.core.errors import OutsideRoots, WorkspaceError
from hermes_acp.core.event_types import EventContext, PlanEntry
from hermes_acp.core.ports.workspace_ports import (
    Command,
    CommandResult,
    FileQuery,
    LiveProcess,
    SearchQuery,
    Workspace,
)
from hermes_acp.core.proposals import Confinement, Effect, Question, Reply

SECRET = "Zq9wverysecretXk42"
BOUND_S = 60


class Ground(Struct):
    """A workspace of one backend, a new folder in it that is also on this machine, and one outside it."""

    workspace: Workspace
    folder: Path
    outside: Path

    @property
    def cwd(self) -> str:
        return str(self.folder)

    def path(self, name: str) -> str:
        return f"{self.folder}/{name}"


class Report:
    """Counts progress, and signals when the output first contains `awaited`."""

    session_id = "ses_present"
    event_context = EventContext("ses_present", "turn_1", 0.0)
    prompts: tuple[str, ...] = ()
    trace_parent = ""
    confinement: Confinement = "usual"

    def __init__(self, awaited: str = "ready") -> None:
        self.text = ""
        self.length = 0
        self.longest = 0
        self.seen = anyio.Event()
        self._awaited = awaited

    def allows(self, *effects: Effect) -> bool:
        return True

    async def inquire(self, question: Question) -> Reply | None:
        return None

    def output(self, text: str) -> None:
        self.length += len(text)
        self.longest = max(self.longest, len(text))
        self.text = (self.text + text)[-10_000:]
        if self._awaited in self.text:
            self.seen.set()

    def terminal(self, terminal_id: str) -> None:
        raise AssertionError(terminal_id)

    def plan(self, entries: tuple[PlanEntry, ...]) -> None:
        raise AssertionError(entries)


async def run(
    ground: Ground, line: str, timeout_s: float = 30, report: Report | None = None
) -> CommandResult:
    with anyio.fail_after(BOUND_S):
        command = Command(line, ground.cwd, timeout_s)
        return await ground.workspace.run(command, report or Report())


async def living(ground: Ground, pids: Sequence[int]) -> list[int]:
    """Return which processes are alive where commands run; zombies do not count."""
    names = " ".join(f"/proc/{pid}/status" for pid in pids)
    line = f"grep -l '^State:[[:space:]]*[^ZX[:space:]]' {names} 2>/dev/null | sed 's,/proc/,,; s,/status,,'"
    return [int(pid) for pid in (await run(ground, line)).output.split()]


async def said(process: LiveProcess, awaited: str) -> str:
    """Read from a live process until it has printed these words."""
    text = ""
    with anyio.fail_after(BOUND_S):
        while awaited not in text:
            sight = await process.read(5)
            text += sight.output
            if sight.end and not sight.output:
                break
    return text


# Command lines that are hard to kill; each prints the PID of the process to check.
STUBBORN = {
    "plain": "sh -c 'echo $$ ready; sleep 1000; echo'",
    "ignores SIGTERM": "sh -c 'trap \"\" TERM; echo $$ ready; while :; do sleep 1000; done'",
    "pipeline": "sh -c 'echo $$ ready; sleep 1000; echo' | cat",
    "orphan": "(setsid sh -c 'echo $$ ready; sleep 1000; echo' &); sleep 1000; echo",
    "nameless child": "env -i PATH=\"$PATH\" setsid sh -c 'echo $$ ready; sleep 1000; echo' & sleep 1000; echo",
}


class FileSuite:
    """Contract tests for files."""

    @pytest.mark.parametrize(
        "content",
        [b"", b"\0\xff\r\n\x1e", "größe 你好\n".encode(), bytes(range(256)) * 4096],
        ids=["empty", "binary", "unicode", "1 MB"],
    )
    async def test_written_content_is_read_back(self, ground: Ground, content: bytes) -> None:
        path = ground.workspace.locate(ground.path("a/ü b/it's.bin"))
        assert await ground.workspace.read(path) is None
        await ground.workspace.write(path, content)
        assert await ground.workspace.read(path) == content
        assert os.listdir(ground.folder / "a/ü b") == ["it's.bin"], "no temporary file is left beside it"

    async def test_a_file_is_replaced_completely_and_keeps_its_mode(self, ground: Ground) -> None:
        (ground.folder / "run.sh").write_text("old")
        (ground.folder / "run.sh").chmod(0o750)
        await ground.workspace.write(ground.path("run.sh"), b"new")
        assert (ground.folder / "run.sh").read_text() == "new"
        assert (ground.folder / "run.sh").stat().st_mode & 0o7777 == 0o750

    async def test_a_read_during_a_write_gets_the_old_or_the_new_content(self, ground: Ground) -> None:
        path, old, new = ground.path("big"), b"o" * 300_000, b"n" * 300_000
        await ground.workspace.write(path, old)
        seen: set[bytes] = set()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ground.workspace.write, path, new)
            for _ in range(50):
                seen.add((ground.folder / "big").read_bytes())
                await anyio.lowlevel.checkpoint()
        assert seen <= {old, new}
        assert await ground.workspace.read(path) == new

    async def test_links_to_outside_are_rejected_and_their_targets_stay(self, ground: Ground) -> None:
        outside = ground.outside
        (outside / "theirs").write_text("theirs")
        (ground.folder / "file").symlink_to(outside / "theirs")
        (ground.folder / "folder").symlink_to(outside)
        workspace = ground.workspace
        for name in ("file", "folder/theirs", "../x", "/etc/passwd", "folder/new"):
            path = name if name.startswith(("/", "..")) else ground.path(name)
            with pytest.raises(WorkspaceError):
                await workspace.write(path, b"mine")
            with pytest.raises(WorkspaceError):
                await workspace.remove(path)
            if name != "folder/new":
                with pytest.raises(WorkspaceError):
                    await workspace.read(path)
        with pytest.raises(WorkspaceError):
            await workspace.entries(ground.path("folder"))
        assert [each.read_text() for each in outside.iterdir()] == ["theirs"]

    @pytest.mark.parametrize("path", ["/etc/passwd", "..", "sub/../../x", "file:///etc/passwd"])
    async def test_paths_outside_are_rejected_and_named(self, ground: Ground, path: str) -> None:
        with pytest.raises(OutsideRoots):
            ground.workspace.locate(path)

    @pytest.mark.parametrize("path", ["", "a\0b", "x/" * 3000, "\ud800"])
    async def test_an_invalid_path_is_rejected(self, ground: Ground, path: str) -> None:
        with pytest.raises(WorkspaceError):
            ground.workspace.locate(path)

    async def test_a_hard_link_is_not_written_through(self, ground: Ground) -> None:
        outside = ground.outside / "theirs"
        outside.write_text("theirs")
        os.link(outside, ground.folder / "linked")
        with pytest.raises(WorkspaceError, match="2 hard links"):
            await ground.workspace.write(ground.path("linked"), b"mine")
        assert outside.read_text() == "theirs"

    async def test_only_regular_files_of_limited_size_are_read(self, ground: Ground) -> None:
        os.mkfifo(ground.folder / "pipe")
        (ground.folder / "sub").mkdir()
        with (ground.folder / "huge").open("wb") as file:
            file.truncate(100_000_000)
        with anyio.fail_after(BOUND_S):
            for name in ("pipe", "sub", "huge"):
                with pytest.raises(WorkspaceError):
                    await ground.workspace.read(ground.path(name))
            piece = await ground.workspace.read_range(ground.path("huge"), 99_999_990, 100)
        assert piece is not None
        assert (piece.content, piece.size_bytes) == (b"\0" * 10, 100_000_000)

    async def test_a_folder_is_listed(self, ground: Ground) -> None:
        (ground.folder / "ü sub").mkdir()
        (ground.folder / "b.txt").write_bytes(b"12345")
        (ground.folder / ".hidden").touch()
        (ground.folder / "to").symlink_to("ü sub")
        found = [(entry.name, entry.size_bytes) for entry in await ground.workspace.entries(ground.path("."))]
        assert found == [(".hidden", 0), ("b.txt", 5), ("to/", 0), ("ü sub/", 0)]
        for name in ("missing", "b.txt"):
            with pytest.raises(WorkspaceError):
                await ground.workspace.entries(ground.path(name))

    async def test_a_file_is_removed_but_a_folder_is_not(self, ground: Ground) -> None:
        (ground.folder / "sub").mkdir()
        (ground.folder / "gone").touch()
        await ground.workspace.remove(ground.path("gone"))
        assert await ground.workspace.read(ground.path("gone")) is None
        for name in ("gone", "sub"):
            with pytest.raises(WorkspaceError):
                await ground.workspace.remove(ground.path(name))
        assert (ground.folder / "sub").is_dir()

    async def test_lines_and_files_are_found(self, ground: Ground) -> None:
        for name in ("a.py", "sub/b.txt", ".hidden/c.py", ".git/d.py"):
            (ground.folder / name).parent.mkdir(exist_ok=True)
            (ground.folder / name).write_text("one\nneedle here\n")
        cwd = ground.cwd
        everywhere = await ground.workspace.search(SearchQuery("ne+dle", cwd))
        found = [(match.path.removeprefix(f"{cwd}/"), match.line, match.text) for match in everywhere]
        assert found == [(name, 2, "needle here") for name in (".hidden/c.py", "a.py", "sub/b.txt")]
        narrowed = await ground.workspace.search(SearchQuery("needle", cwd, "*.py", before=1))
        assert [match.line for match in narrowed] == [1, 2, 1, 2]
        assert [m.line for m in await ground.workspace.search(SearchQuery("needle", f"{cwd}/a.py"))] == [2]
        counted = await ground.workspace.search(SearchQuery("e", cwd, "*.txt", shape="counts"))
        assert [(match.path, match.count) for match in counted] == [(f"{cwd}/sub/b.txt", 2)]
        assert await ground.workspace.search(SearchQuery("absent", cwd)) == []
        files = await ground.workspace.find(FileQuery("*.py", cwd))
        assert sorted(files.paths) == [f"{cwd}/.hidden/c.py", f"{cwd}/a.py"]
        with pytest.raises(OutsideRoots):
            await ground.workspace.search(SearchQuery("x", "/etc"))


class CommandSuite:
    """Contract tests for commands."""

    async def test_output_and_exit_code_are_reported(self, ground: Ground) -> None:
        end = await run(ground, "echo out; echo err >&2; exit 3")
        assert (sorted(end.output.split()), end.exit_code, end.timed_out) == (["err", "out"], 3, False)
        assert (await run(ground, "kill -SEGV $$")).exit_code == 139

    async def test_standard_input_is_closed_and_the_requested_folder_is_used(self, ground: Ground) -> None:
        assert (await run(ground, "cat")).output == ""
        (ground.folder / "sub").mkdir()
        end = await ground.workspace.run(Command("pwd; touch here", ground.path("sub"), 30), Report())
        assert end.output.splitlines()[0] == ground.path("sub")
        assert os.listdir(ground.folder / "sub") == ["here"]

    async def test_output_arrives_while_the_command_runs(self, ground: Ground) -> None:
        report = Report()
        with anyio.fail_after(BOUND_S):
            async with anyio.create_task_group() as tasks:
                line = "echo ready; until [ -e go ]; do sleep 0.05; done; echo went"
                tasks.start_soon(run, ground, line, 30, report)
                await report.seen.wait()
                (ground.folder / "go").touch()
        assert report.text == "ready\nwent\n"

    async def test_no_secret_and_no_pager_is_in_the_environment(self, ground: Ground) -> None:
        output = (await run(ground, "env")).output
        assert SECRET not in output
        assert {"PAGER=cat", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0", "TERM=dumb"} <= set(
            output.splitlines()
        )
        assert "core.fsmonitor" in output

    async def test_folders_outside_and_unusable_commands_are_rejected(self, ground: Ground) -> None:
        with pytest.raises(OutsideRoots):
            await ground.workspace.run(Command("pwd", "/", 5), Report())
        for line, cwd in (("pwd", ground.path("missing")), ("a\0b", ground.cwd)):
            with pytest.raises(WorkspaceError):
                await ground.workspace.run(Command(line, cwd, 5), Report())

    async def test_long_output_is_truncated_and_keeps_both_ends(self, ground: Ground) -> None:
        report = Report()
        end = await run(
            ground, "echo first; head -c 5000000 /dev/zero | tr '\\0' x; echo; echo last", 60, report
        )
        assert report.length == 5_000_012
        assert len(end.output) < 70_000
        assert (end.output[:6], end.output[-5:]) == ("first\n", "last\n")

    async def test_output_that_looks_like_a_notice_is_output(self, ground: Ground) -> None:
        end = await run(ground, "printf '\\036x ended 0\\036 \\303'; sleep 0.1; printf '\\251\\036'")
        assert (end.output, end.exit_code) == ("\x1ex ended 0\x1e é\x1e", 0)

    async def test_a_timeout_ends_everything_and_keeps_the_output(self, ground: Ground) -> None:
        line, timeout_s = "trap '' TERM; echo $$; setsid sleep 1000 & echo $!; sleep 1000; echo", 0.5
        while len((end := await run(ground, line, timeout_s)).output.split()) < 2:
            timeout_s *= 3  # It had not even started to answer.
        pids = [int(word) for word in end.output.split()]
        assert (end.timed_out, end.exit_code, len(pids)) == (True, None, 2)
        assert await living(ground, pids) == []

    @pytest.mark.parametrize("line", STUBBORN.values(), ids=STUBBORN.keys())
    async def test_cancelling_leaves_no_process(self, ground: Ground, line: str) -> None:
        report, pids = Report(), list[int]()
        with anyio.fail_after(BOUND_S):
            async with anyio.create_task_group() as tasks:
                command = Command(line, ground.cwd, 600)
                tasks.start_soon(ground.workspace.run, command, report)
                await report.seen.wait()
                pids.append(int(report.text.split()[-2]))
                assert await living(ground, pids) == pids
                tasks.cancel_scope.cancel()
        assert await living(ground, pids) == []

    async def test_cancelling_during_the_start_leaves_no_process(self, ground: Ground) -> None:
        with anyio.fail_after(BOUND_S), anyio.CancelScope() as scope:
            scope.cancel()
            await ground.workspace.run(Command(f"sleep 7777.{os.getpid()}", ground.cwd, 600), Report())
        assert scope.cancelled_caught
        left = await run(
            ground, f"grep -la '^sleep.7777.{os.getpid()}' /proc/[0-9]*/cmdline 2>/dev/null | wc -l"
        )
        assert left.output.strip() == "0"

    async def test_a_process_left_running_is_reported_and_does_not_delay_the_call(
        self, ground: Ground
    ) -> None:
        end = await run(ground, "setsid sleep 1000 & echo $!")
        pid = int(end.output.split()[0])
        assert "still running" in end.output
        assert await living(ground, [pid]) == [pid]
        await run(ground, f"kill -9 {pid}")

    async def test_commands_run_concurrently(self, ground: Ground) -> None:
        ends: list[int | None] = []

        async def one(number: int) -> None:
            ends.append((await run(ground, f"exit {number}")).exit_code)

        async with anyio.create_task_group() as tasks:
            for number in range(8):
                tasks.start_soon(one, number)
        assert sorted(end or 0 for end in ends) == list(range(8))


class LaunchSuite:
    """Contract tests for launched commands."""

    async def test_a_launched_command_takes_input_and_ends(self, ground: Ground) -> None:
        line = "while read -r word; do echo got $word; done; echo over; exit 4"
        process = await ground.workspace.launch(Command(line, ground.cwd, 1))
        assert ground.workspace.live[process.name] is process
        await process.write("one 'two' \\n %s\n")
        assert "got one 'two'" in await said(process, "got one 'two'")
        await process.write("three\n\x04")
        assert "got three\nover\n" in await said(process, "over\n")
        with anyio.fail_after(BOUND_S):
            sight = await process.read(10)
            while sight.end is None:
                sight = await process.read(10)
        assert sight.end.exit_code == 4
        with pytest.raises(WorkspaceError):
            await process.write("more")

    async def test_a_launched_command_is_killed_with_all_it_started(self, ground: Ground) -> None:
        line = "trap '' TERM; setsid sleep 1000 & echo $$ $! ready; sleep 1000; echo"
        process = await ground.workspace.launch(Command(line, ground.cwd, 1))
        pids = [int(word) for word in (await said(process, "ready")).split()[:2]]
        assert await living(ground, pids) == pids
        with anyio.fail_after(BOUND_S):
            await process.kill()
        assert await living(ground, pids) == []
        assert (await process.read(0)).end is not None

    async def test_long_output_of_a_launched_command_is_shown_at_both_ends(self, ground: Ground) -> None:
        line = "echo first; head -c 1000000 /dev/zero | tr '\\0' x; echo; echo last; sleep 1000"
        process = await ground.workspace.launch(Command(line, ground.cwd, 1))
        text = ""
        with anyio.fail_after(BOUND_S):
            while "last" not in text:
                text += (await process.read(5)).output
            await process.kill()
        assert text.startswith("first\n")
        assert len(text) < 500_000

    async def test_a_terminal_is_real(self, ground: Ground) -> None:
        line = "[ -t 0 ] && [ -t 1 ] && echo terminal; read -r word; echo got $word"
        process = await ground.workspace.launch(Command(line, ground.cwd, 1), in_terminal=True)
        assert "terminal" in await said(process, "terminal")
        await process.write("yes\n")
        assert "got yes" in await said(process, "got yes")

    async def test_a_missing_folder_is_rejected(self, ground: Ground) -> None:
        with pytest.raises(WorkspaceError):
            await ground.workspace.launch(Command("pwd", ground.path("missing"), 1))
