"""Lines of a large file, read in chunks, equal those of the file read whole; it is never read at once."""

import random

import pytest

from hermes_acp.core.errors import WorkspaceError
from hermes_acp.core.ports.workspace_ports import FileChunk
from hermes_acp.core.record.file_versions import file_version
from hermes_acp.tools import large_files
from hermes_acp.tools.builtin import read_file
from hermes_acp.tools.charset_detection import SAMPLE_BYTES
from hermes_acp.tools.large_files import read_part
from hermes_acp.tools.line_views import show_lines
from hermes_acp.tools.text_files import PROBED_BYTES, decode
from tests.unit.tools.tool_calling import MemoryWorkspace, perform

pytestmark = pytest.mark.anyio
PATH = "/project/big"
WORDS = ("word", "größe", "日本", "\U0001f600", "x" * 1500, "y" * 4100, "\r", "", "end\r")
LARGE = b"a line of text\n" * (large_files.LARGE_BYTES // 15 + 100)


class Pieces(MemoryWorkspace):
    """A workspace that returns at most a few bytes at a time, and counts whole reads."""

    def __init__(self, content: bytes, most: int = 1 << 30) -> None:
        super().__init__({"big": content})
        self.most = most
        self.whole_reads = 0
        self.unsaved: bytes | None = None

    async def read(self, path: str, *, for_edit: bool = False) -> bytes | None:
        self.whole_reads += 1
        return await super().read(path) if self.unsaved is None else self.unsaved

    async def read_range(self, path: str, start: int, size_bytes: int) -> FileChunk | None:
        is_sample = size_bytes in (PROBED_BYTES, SAMPLE_BYTES)
        wanted = size_bytes if is_sample else min(size_bytes, self.most)
        return await super().read_range(path, start, wanted)

    async def differs_from_disk(self, path: str, first: int, lines: object) -> bool:
        return self.unsaved is not None


def _whole(content: bytes, first: int, limit: int) -> str:
    try:
        return show_lines(decode(content, "big"), "big", first, limit)
    except WorkspaceError as error:
        return f"{error.message} {error.hint}"


async def _in_pieces(content: bytes, most: int, first: int, limit: int) -> str:
    try:
        part = await read_part(Pieces(content, most), PATH, "big", first, limit)
    except WorkspaceError as error:
        return f"{error.message} {error.hint}"
    assert part.version == file_version(PATH, content)
    return part.text


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030", "cp1252"])
async def test_any_part_read_in_chunks_equals_that_of_the_whole_file(encoding: str) -> None:
    draw = random.Random(encoding)
    for _ in range(60 if encoding.startswith("utf") else 12):
        words = draw.choices(WORDS, k=draw.randrange(1, 25))
        text = "".join(word + draw.choice(("\n", " ", "\r\n", "\n\n")) for word in words).rstrip(" ")
        content = text.encode(encoding, "replace")
        if not content:
            continue
        first, limit, most = draw.randrange(1, 12), draw.randrange(1, 9), draw.randrange(1, 700)
        assert await _in_pieces(content, most, first, limit) == _whole(content, first, limit)


@pytest.mark.parametrize("content", [b"x\0y", b"\xff\xfex", bytes(range(1, 256)), b"\x80\x81\x8d\x90 \n" * 9])
async def test_binary_content_is_reported_as_for_the_whole_file(content: bytes) -> None:
    assert await _in_pieces(content, 3, 1, 5) == _whole(content, 1, 5)


async def test_a_large_file_is_not_read_whole_and_can_be_edited_afterwards() -> None:
    workspace = Pieces(LARGE)
    result = await perform("read_file", workspace, path="big", offset=70, limit=50)
    assert workspace.whole_reads == 0
    assert result.text == _whole(LARGE, 70, 50)
    assert result.seen == (file_version(PATH, LARGE),)


async def test_unsaved_changes_to_a_large_file_are_read() -> None:
    workspace = Pieces(LARGE)
    workspace.unsaved = b"unsaved\n" + LARGE
    result = await perform("read_file", workspace, path="big", limit=1)
    assert "unsaved" in result.text
    assert result.seen == (file_version(PATH, workspace.unsaved),)


async def test_a_large_image_is_rejected_unread() -> None:
    workspace = Pieces(b"\x89PNG\r\n\x1a\n" + bytes(8_000_000))
    with pytest.raises(WorkspaceError, match="at most"):
        await perform("read_file", workspace, path="big")
    assert workspace.whole_reads == 0
    assert read_file.HEAD_BYTES < 100
