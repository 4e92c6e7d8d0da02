"""A batch search for names finds the same files as single lookups; the fixed part of a glob only saves work."""

import random
from pathlib import Path

import pytest

from hermes_acp.core.ports.workspace_ports import FileQuery
from hermes_acp.workspaces import ripgrep
from hermes_acp.workspaces.globs import Glob

pytestmark = pytest.mark.anyio
NAMES = ("a.py", "test_a.py", "ab99.py", "9.py", "x y.txt", "größe.md", "[odd].py", "f99.py")
GLOBS = (
    "f*99.py",
    "*.py",
    "**/*.py",
    "src/**/*.py",
    "test_*",
    "*",
    "{a,9}.py",
    "d?ep/*",
    "/src",
    "src/",
    "x*t",
    "**",
)


@pytest.mark.parametrize("pattern", GLOBS)
async def test_the_matches_of_a_glob_are_found_newest_first(tmp_path: Path, pattern: str) -> None:
    draw = random.Random(pattern)
    for number in range(60):
        folder = tmp_path.joinpath(*draw.choices(("src", "deep", "other"), k=draw.randrange(4)))
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / draw.choice(NAMES)
        if not path.is_dir():
            path.write_text(str(number))
    everything = [path for path in tmp_path.rglob("*") if path.is_file()]
    glob = Glob(pattern)
    covered = [path for path in everything if glob.covers(str(path.relative_to(tmp_path)))]
    expected = sorted(covered, key=lambda path: (-path.stat().st_mtime_ns, str(path)))
    for limit in (3, 1000):
        query = FileQuery(pattern, str(tmp_path), limit)
        found = await ripgrep.find(query, {"PATH": "/bin"}, [])
        assert list(found.paths) == [str(path) for path in expected[:limit]]
        assert (found.matched, found.is_by_time) == (len(expected), True)
    in_blocks = glob.covering(map(str, everything), len(str(tmp_path)) + 1)
    assert in_blocks == [str(path) for path in covered]


async def test_if_there_are_too_many_files_those_in_the_fewest_folders_are_found(tmp_path: Path) -> None:
    for name in ("z.py", "deep/er/a.py", "deep/b.py", "deep/a.py", "c.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    shown = ["c.py", "z.py", "deep/a.py", "deep/b.py", "deep/er/a.py"]
    for limit in (1, 2, 3, 5, 1000):
        query = FileQuery("*.py", str(tmp_path), limit)
        found = await ripgrep.find(query, {"PATH": "/bin"}, [], max_dated=4)
        assert [str(Path(path).relative_to(tmp_path)) for path in found.paths] == shown[:limit]
        assert (found.matched, found.is_by_time) == (5, False)
