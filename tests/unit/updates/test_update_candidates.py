"""Update candidates from a source; a source cannot make us accept anything else."""

from __future__ import annotations

import hashlib
import os
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path

import anyio
import pytest
from anyio.abc import SocketAttribute, SocketStream

from hermes_acp.config.installation import DirectUrl
from hermes_acp.core.errors import HermesError
from hermes_acp.updates.environment_builder import EnvironmentBuilder
from hermes_acp.updates.installed_package import InstalledPackage, build_of
from hermes_acp.updates.update_candidates import CandidateFinder
from hermes_acp.updates.update_errors import NotUpdatable, UpdateFailed
from hermes_acp.updates.update_sources import AddressSource, IndexSource, WheelsSource

pytestmark = pytest.mark.anyio


class Quiet:
    def step(self, name: str, value: str = "") -> None:
        """Do nothing with the name of a step."""

    def detail(self, text: str) -> None:
        """Do nothing with a detail."""


def wheel(folder: Path, version: str, content: str = "") -> Path:
    """Write a wheel with one file in it."""
    folder.mkdir(exist_ok=True)
    path = folder / f"hermes_acp_server-{version}-py3-none-any.whl"
    digest = hashlib.sha256(content.encode()).hexdigest()
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("hermes_acp/a.py", content)
        record = f"hermes_acp/a.py,sha256={digest},{len(content)}\n"
        made.writestr(f"hermes_acp_server-{version}.dist-info/RECORD", record)
    return path


def index(folder: Path, *files: tuple[Path, str]) -> IndexSource:
    """Write an index page that links to files, each with attributes."""
    page = folder / "hermes-acp-server"
    page.mkdir(parents=True)
    links = [f'<a href="{path.as_uri()}" {attributes}>{path.name}</a>' for path, attributes in files]
    (page / "index.html").write_text("\n".join(links))
    return IndexSource(folder.as_uri())


def finder(tmp_path: Path, installed: Path, version: str = "0.1.0") -> CandidateFinder:
    staging = tmp_path / "staging"
    staging.mkdir(exist_ok=True)
    package = InstalledPackage(tmp_path, version, DirectUrl(), build_of(installed), "pip")
    variables: Mapping[str, str] = {}
    builder = EnvironmentBuilder(tmp_path, "pip", variables, Quiet())
    return CandidateFinder(package, builder, staging, variables, Quiet())


async def test_the_newest_wheel_in_a_folder_is_chosen(tmp_path: Path) -> None:
    mine = wheel(tmp_path / "w", "0.1.0", "one")
    source = WheelsSource(str(tmp_path / "w"))
    assert await finder(tmp_path, mine).find(source) is None
    for version in ("0.2.0", "0.10.0", "0.9.0", "1.0.0rc1", "0.0.9"):
        wheel(tmp_path / "w", version, version)
    (tmp_path / "w" / "hermes_acp_server-x.whl").touch()
    found = await finder(tmp_path, mine).find(source)
    assert found
    assert found.version == "0.10.0"
    assert found.wheel.parent == tmp_path / "staging"
    assert found.name == f"0.10.0-{found.digest[:12]}"
    previewing = await finder(tmp_path, mine, "0.1.0rc1").find(source)
    assert previewing
    assert previewing.version == "1.0.0rc1"


async def test_another_build_of_the_same_version(tmp_path: Path) -> None:
    mine = wheel(tmp_path / "old", "0.1.0", "one")
    wheel(tmp_path / "w", "0.1.0", "two")
    found = await finder(tmp_path, mine).find(WheelsSource(str(tmp_path / "w")))
    assert found
    assert found.version == "0.1.0"


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away")
async def test_a_wheel_owned_by_another_user_is_rejected(tmp_path: Path) -> None:
    mine = wheel(tmp_path / "w", "0.1.0", "one")
    os.chown(wheel(tmp_path / "w", "9.0.0"), 4711, 4711)
    with pytest.raises(UpdateFailed, match="belongs to another user"):
        await finder(tmp_path, mine).find(WheelsSource(str(tmp_path / "w")))


async def test_an_index_offers_compatible_files_that_were_not_yanked(tmp_path: Path) -> None:
    mine = wheel(tmp_path / "w", "0.1.0", "one")
    newer = wheel(tmp_path / "w", "0.2.0", "two")
    source = index(
        tmp_path / "index",
        (mine, ""),
        (newer, 'data-requires-python="&gt;=3.11"'),
        (wheel(tmp_path / "w", "0.3.0"), 'data-yanked=""'),
        (wheel(tmp_path / "w", "0.4.0"), f'data-requires-python="&lt;{sys.version_info[0]}.1"'),
    )
    found = await finder(tmp_path, mine).find(source)
    assert found
    assert found.version == "0.2.0"
    assert await finder(tmp_path, newer, "0.2.0").find(source) is None


@pytest.mark.parametrize("has_first", [False, True])
async def test_an_index_with_another_project_of_this_name_is_rejected(
    tmp_path: Path, has_first: bool
) -> None:
    mine = wheel(tmp_path / "mine", "0.1.0", "one")
    theirs = [(wheel(tmp_path / "w", "9.0.0", "theirs"), "")]
    theirs += [(wheel(tmp_path / "w", "0.1.0", "theirs"), "")] if has_first else []
    with pytest.raises(NotUpdatable, match="was not installed from there"):
        await finder(tmp_path, mine).find(index(tmp_path / "index", *theirs))


async def test_a_file_with_another_digest_is_rejected(tmp_path: Path) -> None:
    mine = wheel(tmp_path / "w", "0.1.0", "one")
    newer = wheel(tmp_path / "w", "0.2.0", "two")
    source = index(tmp_path / "index", (mine, ""), (newer, ""))
    page = tmp_path / "index" / "hermes-acp-server" / "index.html"
    page.write_text(page.read_text().replace(f'{newer.name}"', f'{newer.name}#sha256={"0" * 64}"'))
    with pytest.raises(UpdateFailed, match="instead of 000"):
        await finder(tmp_path, mine).find(source)


async def test_a_damaged_wheel_is_rejected(tmp_path: Path) -> None:
    mine = wheel(tmp_path / "old", "0.1.0", "one")
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / "hermes_acp_server-0.2.0-py3-none-any.whl").write_bytes(b"no archive")
    with pytest.raises(UpdateFailed, match="is damaged"):
        await finder(tmp_path, mine).find(WheelsSource(str(tmp_path / "w")))


async def test_an_index_over_http_is_read(tmp_path: Path) -> None:
    mine = wheel(tmp_path / "w", "0.1.0", "one")
    newer = wheel(tmp_path / "w", "0.2.0", "two")
    digest = hashlib.sha256(newer.read_bytes()).hexdigest()
    files = [
        f'{{"filename": "{path.name}", "url": "../files/{path.name}", "hashes": {{"sha256": "{known}"}}}}'
        for path, known in ((mine, ""), (newer, digest))
    ]
    page = f'{{"files": [{", ".join(files)}]}}'.encode()

    async def answer(stream: SocketStream) -> None:
        async with stream:
            asked = (await stream.receive()).split(b" ")[1].decode()
            is_page = asked == "/simple/hermes-acp-server/"
            content = page if is_page else (tmp_path / "w" / Path(asked).name).read_bytes()
            kind = "application/vnd.pypi.simple.v1+json" if is_page else "application/octet-stream"
            head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(content)}\r\n"
            await stream.send(f"{head}Connection: close\r\n\r\n".encode() + content)

    async with (
        await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0) as listener,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(listener.serve, answer)
        port = listener.extra(SocketAttribute.local_port)
        found = await finder(tmp_path, mine).find(IndexSource(f"http://127.0.0.1:{port}/simple"))
        tasks.cancel_scope.cancel()
        assert found
        assert found.version == "0.2.0"


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://example.com/hermes_acp_server-9.0.0-py3-none-any.whl", "not encrypted"),
        ("https://127.0.0.1:9/other-1.0-py3-none-any.whl", "not a wheel of hermes-acp"),
        ("https://127.0.0.1:9/hermes_acp_server-9.0.0-py3-none-any.whl", "Check the network"),
    ],
)
async def test_unusable_addresses_are_rejected(tmp_path: Path, url: str, words: str) -> None:
    mine = wheel(tmp_path / "w", "0.1.0", "one")
    with pytest.raises(HermesError) as caught:
        await finder(tmp_path, mine).find(AddressSource(url))
    assert words in caught.value.sentence()
