"""Reading files that are not plain short text (images, code pages, huge files), and several edits in one call."""

import base64

import pytest
from msgspec import structs

from hermes_acp.core.errors import FileTooLarge, WorkspaceError
from hermes_acp.core.messages import ImagePart
from hermes_acp.core.ports.workspace_ports import MAX_WHOLE_FILE_BYTES, FileChunk, SearchMatch
from hermes_acp.tools import line_views
from hermes_acp.tools.builtin.search import show_matches
from hermes_acp.tools.image_files import MAX_IMAGE_BYTES
from hermes_acp.tools.large_files import read_part
from tests.unit.tools.test_picture_sizes import extended, gif, jpeg, png, webp
from tests.unit.tools.tool_calling import MemoryWorkspace, perform, propose

pytestmark = pytest.mark.anyio
PNG = png(2, 2) + b"\0\0\0\0IEND"
WEBP = webp(b"VP8X", extended(2, 2))


class Huge(MemoryWorkspace):
    """A workspace that reads no file whole, and reports a size beyond the limit."""

    def __init__(self, content: bytes) -> None:
        super().__init__({"big": content})
        self.pieces = 0

    async def read(self, path: str, *, for_edit: bool = False) -> bytes | None:
        raise FileTooLarge("too large")

    async def read_range(self, path: str, start: int, size_bytes: int) -> FileChunk | None:
        self.pieces += 1
        piece = await super().read_range(path, start, min(size_bytes, 7))
        return structs.replace(piece, size_bytes=MAX_WHOLE_FILE_BYTES + piece.size_bytes) if piece else None


async def show_part(files: Huge, first: int, limit: int) -> str:
    return (await read_part(files, "/project/big", "big", first, limit)).text


@pytest.mark.parametrize("content", [PNG, jpeg(2, 2), gif(2, 2), WEBP])
async def test_an_image_is_shown_as_one(content: bytes) -> None:
    result = await perform("read_file", MemoryWorkspace({"p": content}), path="p")
    (picture,) = result.parts
    assert isinstance(picture, ImagePart)
    assert base64.b64decode(picture.data_base64) == content
    assert picture.mime_type in result.text


@pytest.mark.parametrize(
    "content",
    [
        PNG[:20],
        PNG[:-4],
        b"\x89PNG\r\n\x1a\n" + bytes(100),
        PNG[:8] + b"\0\0\0\4eXIf1234\0\0\0\0" + png(60_000, 60_000)[8:] + b"IEND",
        png(0, 2) + b"IEND",
        b"\xff\xd8\xff" + b"\xff" * 1000,
        jpeg(2, 2)[:100],
        b"GIF89a..",
        b"RIFF....WEBPVP8 ",
        b"RIFF....WEBP" + b"ABCD\0\0\0\0" * 1000,
    ],
)
async def test_an_image_that_no_model_accepts_is_rejected(content: bytes) -> None:
    with pytest.raises(WorkspaceError, match="damaged"):
        await perform("read_file", MemoryWorkspace({"p": content}), path="p")


async def test_an_image_too_large_for_any_model_is_rejected() -> None:
    with pytest.raises(WorkspaceError, match="at most"):
        await perform("read_file", MemoryWorkspace({"p": PNG + bytes(MAX_IMAGE_BYTES)}), path="p")


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("shift_jis", "# 日本語のコメントです。\nprint('こんにちは')\n"),
        ("gb18030", "# 这是一个测试文件用于检查编码\nprint('你好')\n"),
        ("euc_kr", "# 안녕하세요 세계, 이것은 주석입니다\n"),
        ("cp1251", "# Привет, мир. Это комментарий к программе.\n"),
        ("koi8_r", "# Привет, мир, это комментарий к программе\n"),
        ("cp1252", "// Größe: “naïve” \u2013 5 €\n"),
        ("utf-16", "# über\n"),
        ("utf-32", "# über\n"),
    ],
)
async def test_a_code_page_is_recognised_and_kept(encoding: str, text: str) -> None:
    workspace = MemoryWorkspace(
        {
            "a": text.encode(encoding)
            + "x = 1\n".encode(encoding.replace("16", "16-le").replace("32", "32-le"))
        }
    )
    result = await perform("read_file", workspace, path="a")
    assert text.splitlines()[0] in result.text
    await perform("edit_file", workspace, path="a", old_text="x = 1", new_text="x = 2")
    assert workspace.files["/project/a"].decode(encoding) == text + "x = 2\n"
    await perform("write_file", workspace, path="a", content=text)
    assert workspace.files["/project/a"].decode(encoding) == text


@pytest.mark.parametrize("content", [bytes(range(256)), b"\xff\xfex", b"a\0b"])
async def test_bytes_that_are_not_text_are_rejected(content: bytes) -> None:
    with pytest.raises(WorkspaceError, match="not text"):
        await perform("read_file", MemoryWorkspace({"a": content}), path="a")


async def test_text_that_matches_no_code_page_is_preserved_byte_by_byte() -> None:
    odd = b"\x80\x81\x8d\x8f\x90\x9d" * 9
    workspace = MemoryWorkspace({"a": odd + b" x"})
    await perform("edit_file", workspace, path="a", old_text=" x", new_text=" y")
    assert workspace.files["/project/a"] == odd + b" y"


@pytest.mark.parametrize(
    ("first", "limit", "shown"),
    [
        (1, 2, "     1\tone\n     2\ttwo and more\n"),
        (2, 1, "     2\ttwo and more\n"),
        (3, 9, "     3\t\n     4\tfour"),
        (4, 1, "     4\tfour"),
    ],
)
async def test_a_part_of_a_huge_file_is_read_without_the_remainder(
    first: int, limit: int, shown: str
) -> None:
    workspace = Huge(b"one\r\ntwo and more\n\nfour")
    text = await show_part(workspace, first, limit)
    assert text.startswith(shown)
    assert "offset=" in text or first + limit > 4
    result = await perform("read_file", workspace, path="big", offset=first, limit=limit)
    assert result.text == text


async def test_no_more_of_a_huge_file_is_read_than_is_shown() -> None:
    workspace = Huge(b"line\n" * 1000)
    await show_part(workspace, 1, 3)
    assert workspace.pieces <= 4


async def test_a_huge_line_and_a_huge_binary() -> None:
    text = await show_part(Huge(b"x" * 50_000), 1, 10)
    assert text == f"     1\t{'x' * line_views.MAX_LINE_CHARS} [… 48,000 more characters]"
    with pytest.raises(WorkspaceError, match="not text"):
        await show_part(Huge(b"x\0y"), 1, 10)
    with pytest.raises(WorkspaceError, match="has only 2 lines"):
        await show_part(Huge(b"a\nb"), 7, 10)


async def test_several_edits_are_made_in_order_or_not_at_all() -> None:
    workspace = MemoryWorkspace({"a": b"one\ntwo\nthree\n"})
    edits = [{"old_text": "one", "new_text": "1"}, {"old_text": "1\ntwo", "new_text": "1\n2"}]
    proposal = await propose("edit_file", workspace, path="a", edits=edits)
    assert (proposal.title, len(proposal.diffs)) == ("Edit a (2 passages)", 1)
    await perform("edit_file", workspace, path="a", edits=edits)
    assert workspace.files["/project/a"] == b"1\n2\nthree\n"
    wrong = [{"old_text": "three", "new_text": "3"}, {"old_text": "one", "new_text": "x"}]
    with pytest.raises(WorkspaceError, match=r"Edit 2 of 2: old_text is not in the file\."):
        await propose("edit_file", workspace, path="a", edits=wrong)
    assert workspace.files["/project/a"] == b"1\n2\nthree\n"


async def test_the_diff_of_a_large_file_covers_the_part_that_changes() -> None:
    lines = [f"line {number} with some words in it\n" for number in range(100_000)]
    workspace = MemoryWorkspace({"a": "".join(lines).encode()})
    proposal = await propose(
        "edit_file", workspace, path="a", old_text="line 70000 with", new_text="row 70000 with"
    )
    (diff,) = proposal.diffs
    assert len(diff.new_text) < 10_000
    assert diff.new_text.splitlines()[70_000 - diff.first_line + 1] == "row 70000 with some words in it"
    assert diff.old_text
    assert "".join(lines).startswith(diff.old_text, sum(map(len, lines[: diff.first_line - 1])))
    assert proposal.locations[0].line == 70_001


async def test_a_large_change_to_a_large_file_is_shown_in_part() -> None:
    workspace = MemoryWorkspace({"a": b"value = 1\n" * 200_000})
    proposal = await propose("edit_file", workspace, path="a", old_text="1", new_text="22", replace_all=True)
    (diff,) = proposal.diffs
    assert len(diff.new_text) <= 100_000
    assert diff.first_line == 1


@pytest.mark.parametrize("before", range(line_views.MAX_LINE_CHARS - 44, line_views.MAX_LINE_CHARS + 2, 5))
async def test_no_partial_key_remains_where_a_long_line_is_cut(before: int) -> None:
    key = "ghp_" + "aB3dE5fG7h" * 4
    line = f"{'w ' * (before // 2)}{key} {'z ' * 4000}"
    workspace = MemoryWorkspace({"a.txt": f"one\n{line}\n".encode()})
    read = (await perform("read_file", workspace, path="a.txt")).text
    part = await show_part(Huge(f"one\n{line}\n".encode()), 1, 10)
    found = show_matches([SearchMatch("/project/a.txt", 2, line[before - 440 :])], workspace)
    for shown in (read, part, found):
        assert "ghp_" not in shown or key in shown
        assert "…" in shown
