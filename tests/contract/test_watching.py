"""Watching folders on a real disk, whatever happens in them."""

import errno
import os
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from hermes_acp.storage.watching.folder_events import FolderEvents
from hermes_acp.storage.watching.folder_watcher import POLL_INTERVAL_S, FolderWatcher

pytestmark = pytest.mark.anyio
WAIT_S = 60


@asynccontextmanager
async def watcher(
    open_events: Callable[[], FolderEvents] = FolderEvents, poll_interval_s: float = POLL_INTERVAL_S
) -> AsyncGenerator[FolderWatcher]:
    async with anyio.create_task_group() as tasks:
        with anyio.fail_after(WAIT_S):
            yield FolderWatcher(tasks.start_soon, open_events, poll_interval_s)
        tasks.cancel_scope.cancel()


def writing(path: Path) -> Callable[[], Coroutine[Any, Any, None]]:
    async def write() -> None:
        path.write_text("x")

    return write


@pytest.mark.parametrize("name", ["new.md", os.fsdecode(b"bytes\xff\xfe")], ids=["a name", "no text"])
async def test_a_new_file_is_noticed_whatever_its_name(tmp_path: Path, name: str) -> None:
    deep, shallow = tmp_path / "deep", tmp_path / "shallow"
    (deep / "below").mkdir(parents=True)
    shallow.mkdir()
    async with watcher() as folders:
        await folders.changed([deep], [shallow], writing(deep / "below" / name))


async def test_irrelevant_changes_are_not_reported(tmp_path: Path) -> None:
    begun = anyio.Event()

    async def begin() -> None:
        begun.set()

    async with watcher() as folders, anyio.create_task_group() as tasks:

        async def wait() -> None:
            await folders.changed([], [tmp_path], begin, lambda path: path.name == "skills")
            assert (tmp_path / "skills").is_dir()

        tasks.start_soon(wait)
        await begun.wait()
        (tmp_path / "index.db").write_text("x")
        await anyio.sleep(0.3)
        (tmp_path / "skills").mkdir()


async def test_hundreds_of_folders_share_one_watcher_and_each_gets_its_own_changes(tmp_path: Path) -> None:
    places = [tmp_path / f"place-{number}" for number in range(200)]
    shared = tmp_path / "shared"
    for folder in (*places, shared):
        (folder / "skill").mkdir(parents=True)
    begun, heard = anyio.Semaphore(0), set[Path]()
    before = len(os.listdir("/proc/self/task"))

    async def wait(folders: FolderWatcher, place: Path) -> None:
        async def begin() -> None:
            begun.release()

        await folders.changed([place, shared], [tmp_path], begin, lambda _: False)
        heard.add(place)

    async with watcher() as folders:
        async with anyio.create_task_group() as tasks:
            for place in places:
                tasks.start_soon(wait, folders, place)
            for _ in places:
                await begun.acquire()
            assert len(os.listdir("/proc/self/task")) <= before + 1
            (places[7] / "skill" / "SKILL.md").write_text("x")
            while not heard:
                await anyio.sleep(0.05)
            assert heard == {places[7]}
            (shared / "skill" / "SKILL.md").write_text("x")
        assert heard == set(places)


async def test_a_folder_reached_by_two_paths_is_watched_by_both(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    async with watcher() as folders:
        left = anyio.Event()

        async def leave() -> None:
            left.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(folders.changed, [link], (), leave)
            await left.wait()
            tasks.cancel_scope.cancel()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(folders.changed, [link], (), leave)
            await folders.changed([real], [], writing(real / "new.md"))


async def test_following_a_circle_of_links_ends(tmp_path: Path) -> None:
    (tmp_path / "deep" / "below").mkdir(parents=True)
    (tmp_path / "deep" / "below" / "up").symlink_to(tmp_path / "deep")
    async with watcher() as folders:
        await folders.changed([tmp_path / "deep"], [], writing(tmp_path / "deep" / "below" / "new.md"))


class FullEvents(FolderEvents):
    def add(self, folder: str, mask: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def no_instance() -> FolderEvents:
    raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))


@pytest.mark.parametrize(
    ("instead", "setting"), [(FullEvents, "max_user_watches"), (no_instance, "max_user_instances")]
)
async def test_beyond_the_systems_limits_a_folder_is_polled_and_the_limit_named(
    tmp_path: Path, instead: Callable[[], FolderEvents], setting: str
) -> None:
    async with watcher(instead, poll_interval_s=0.01) as folders:
        assert folders.news() == ""
        begun: list[None] = []

        async def begin() -> None:
            begun.append(None)

        await folders.changed([tmp_path], [], begin)
        assert len(begun) == 1
        assert setting in folders.news()
