"""The agent's own searches while a background command redirects their paths."""

from collections.abc import AsyncGenerator
from pathlib import Path

import anyio
import pytest

from hermes_acp.core.errors import WorkspaceError
from hermes_acp.core.ports.workspace_ports import Command, FileQuery, SearchQuery
from tests.attacks.sandboxes import WAYS, Sandboxed, sandboxed

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
SEARCHES = 20
EXCHANGE = """
import ctypes
exchange = ctypes.CDLL(None).renameat2
print("begun", flush=True)
while True:
    exchange(-100, b"d", -100, b"l", 2)
"""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(params=WAYS)
async def box(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Sandboxed]:
    async with sandboxed(tmp_path, request.param) as opened:
        yield opened


async def begun(box: Sandboxed, *, is_shed: bool) -> None:
    """Have a command swap a folder for a link out of the workspace, for as long as it runs."""
    work = box.folder / "work"
    (work / "d").mkdir(parents=True)
    for number in range(20):
        (work / f"d/{number}.txt").write_text("plain-bytes\n")
    (work / "l").symlink_to(box.outside)
    (work / "exchange.py").write_text(EXCHANGE)
    (work / "begun").touch()
    line = "exec /usr/bin/python3 exchange.py"
    if is_shed:
        await box.run(f"cd work; (setsid {line} > begun 2>&1 &); while [ ! -s begun ]; do sleep 0.01; done")
        return
    process = await box.workspace.launch(Command(line, str(work), 300, "must"))
    with anyio.fail_after(60):
        while "begun" not in (await process.read(5)).output:
            pass


@pytest.mark.parametrize("is_shed", [False, True])
async def test_no_search_is_led_out_of_the_workspace(box: Sandboxed, is_shed: bool) -> None:
    await begun(box, is_shed=is_shed)
    work = str(box.folder / "work")
    found = 0
    for _ in range(SEARCHES):
        matches = await box.workspace.search(SearchQuery("-bytes", work, limit=500))
        assert not [each for each in matches if "canary" in each.text]
        names = await box.workspace.find(FileQuery("**", work, limit=500))
        assert not [name for name in names.paths if name.endswith("/canary")]
        found += len(matches)
    assert found


async def test_a_search_beside_a_command_finds_the_same_as_alone(box: Sandboxed) -> None:
    place = box.folder / "src"
    (place / "deep").mkdir(parents=True)
    (place / "deep/a.py").write_text("one\nneedle two\nthree\n")
    (place / "b.txt").write_text("needle\n")
    (place / ".gitignore").write_text("left.txt\n")
    (place / "left.txt").write_text("needle\n")
    (place / ".env").write_text("needle\n")
    queries = (
        SearchQuery("ne+dle", str(place)),
        SearchQuery("needle", str(place), before=1, after=1),
        SearchQuery("needle", str(place), "**/*.py"),
        SearchQuery("needle", str(place), shape="files"),
        SearchQuery("needle", str(place), shape="counts"),
        SearchQuery("needle", str(place), limit=1, shape="files", glob="*.txt"),
        SearchQuery("needle", str(place / "deep/a.py")),
        SearchQuery("absent", str(place)),
    )
    files = FileQuery("**/*.py", str(place)), FileQuery("**", str(place), takes_ignored=True)
    search, find = box.workspace.search, box.workspace.find
    alone = [await search(each) for each in queries], [sorted((await find(each)).paths) for each in files]
    process = await box.workspace.launch(Command("sleep 600", str(box.folder), 600, "must"))
    assert (
        [await search(each) for each in queries],
        [sorted((await find(each)).paths) for each in files],
    ) == alone
    for bad in (SearchQuery("(", str(place)), SearchQuery("(", str(place), shape="files")):
        with pytest.raises(WorkspaceError, match="unclosed"):
            await search(bad)
    await process.kill()
