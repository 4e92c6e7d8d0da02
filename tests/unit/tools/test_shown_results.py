"""Output of tools: for the model, and for the user who is asked."""

import msgspec
import pytest
from pydantic import ValidationError

from hermes_acp.core.errors import WorkspaceError
from hermes_acp.core.event_types import PlanEntry
from hermes_acp.core.plugins import PluginFolder
from hermes_acp.core.ports.workspace_ports import Command, CommandResult, DirectoryEntry, SearchMatch
from hermes_acp.core.visible_text import escape_invisible
from hermes_acp.tools.builtin.list_files import show_entries
from hermes_acp.tools.text_files import decode
from hermes_acp.workspaces.command_output import BoundedOutput
from tests.unit.tools.tool_calling import (
    MemoryWorkspace,
    Report,
    ToolWithArguments,
    find_tool,
    perform,
    propose,
)

pytestmark = pytest.mark.anyio
TOOLS: PluginFolder[ToolWithArguments] = PluginFolder("hermes_acp.tools.builtin", "TOOL")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def read(content: bytes, **arguments: object) -> str:
    return (await perform("read_file", MemoryWorkspace({"a": content}), path="a", **arguments)).text


async def test_reading_numbers_lines_and_tells_how_to_continue() -> None:
    content = "".join(f"line {number}\n" for number in range(1, 3001)).encode()
    assert await read(content, offset="12", limit="2") == (
        "    12\tline 12\n    13\tline 13\n[2,987 more lines; continue with offset=14]"
    )
    assert (await read(content)).endswith("  2000\tline 2000\n[1,000 more lines; continue with offset=2001]")
    assert await read(content, offset=3000) == "  3000\tline 3000"
    assert await read(b"a\x0cb\xe2\x80\xa8c\r\nd") == "     1\ta\x0cb\u2028c\n     2\td"
    assert await read(b"") == "(a is empty)"
    with pytest.raises(WorkspaceError, match="only 3000 lines"):
        await read(content, offset=3001)


async def test_reading_cuts_long_lines_and_long_files() -> None:
    assert await read(b"x" * 2500) == "     1\t" + "x" * 2000 + " [… 500 more characters]"
    long = await read((b"x" * 2000 + b"\n") * 500)
    assert len(long) < 210_000
    assert "more lines; continue with offset=" in long


@pytest.mark.parametrize(
    ("content", "text", "encoding"),
    [
        ("é".encode(), "é", "utf-8"),
        (b"\xef\xbb\xbfx", "x", "utf-8"),
        ("\ufeffé\n".encode("utf-16-be"), "é\n", "utf-16-be"),
        (b"caf\xe9 \x80", "café €", "cp1252"),
        (b"caf\xe9 \x81", "café \x81", "latin-1"),
    ],
)
async def test_encodings_are_recognised_named_and_restored(content: bytes, text: str, encoding: str) -> None:
    file = decode(content, "a")
    assert (file.text, file.encoding) == (text, encoding)
    assert file.encode(file.text, "a") == content
    assert ("[encoded in" in await read(content)) == (encoding != "utf-8" or bool(file.mark))


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n\0", "a PNG image of 9 bytes"),
        (b"a\0b", "a binary file of 3 bytes"),
        (b"\xff\xfe\0\xd8", "a binary file of 4 bytes"),
        (b"\xe9\x01\x02", "a binary file of 3 bytes"),
    ],
)
def test_binary_content_is_named(content: bytes, kind: str) -> None:
    with pytest.raises(WorkspaceError, match=kind):
        decode(content, "a")


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("ls -l", "ls -l"),
        ("größe 日本", "größe 日本"),
        ("a\nb\tc\x1b[2K\x07", "a\\nb\\tc\\x1b[2K\\x07"),
        ("rm \u202e\u2066fdp.x\u2069", "rm \\u202e\\u2066fdp.x\\u2069"),
        ("a\u200bb\ufeff\u00a0\u3164\U000e0041\ufe0f", "a\\u200bb\\ufeff\\xa0\\u3164\\U000e0041\\ufe0f"),
        ("\x85\u2028\udc80", "\\x85\\u2028\\udc80"),
    ],
)
def test_nothing_in_a_title_can_hide(raw: str, shown: str) -> None:
    assert escape_invisible(raw) == shown


async def test_titles_are_short_and_commands_whole() -> None:
    workspace = MemoryWorkspace()
    command = "true " + "x" * 5000 + "\n; rm -rf /"
    titles: dict[str, tuple[str, dict[str, object]]] = {
        "Read a.py:10-40": ("read_file", {"path": "a.py", "offset": 10, "limit": 31}),
        "Read /etc/x:3-": ("read_file", {"path": "/etc/x", "offset": 3}),
        "List .": ("list_files", {}),
        "Search for x\\ny in src (*.py)": ("search", {"pattern": "x\ny", "path": "src", "glob": "*.py"}),
        f"Run {command}".replace("\n", "\\n"): ("terminal", {"command": command}),
        "Run ls (in a\\u202e)": ("terminal", {"command": "ls", "cwd": "a\u202e"}),
    }
    for title, (name, arguments) in titles.items():
        assert (await propose(name, workspace, **arguments)).title == title


async def test_listing_is_bounded_and_skips_git_alone() -> None:
    entries = [
        DirectoryEntry(".git/", 0),
        DirectoryEntry(".gitignore", 5),
        DirectoryEntry("a\nb", 2048),
        DirectoryEntry("src/", 0),
    ]
    assert show_entries(entries) == ".gitignore\t5 B\na\\nb\t2.0 KiB\nsrc/"
    assert show_entries([DirectoryEntry(".git", 9)]) == "(empty)"
    many = show_entries([DirectoryEntry(f"{number}", 1) for number in range(1234)]).split("\n")
    assert len(many) == 501
    assert many[-1].startswith("[734 more entries")


async def test_search_shows_places_and_says_when_there_is_more() -> None:
    workspace = MemoryWorkspace()
    assert (await perform("search", workspace, pattern="x")).text.startswith("No line matches x.")
    workspace.matches = [SearchMatch("/project/a", number, "y") for number in range(300)]
    lines = (await perform("search", workspace, pattern="x")).text.split("\n")
    assert lines[0] == "a:0: y"
    assert (len(lines), lines[-1].startswith("[only the first 200")) == (201, True)


async def test_terminal_passes_the_command_on_unchanged() -> None:
    workspace = MemoryWorkspace()
    workspace.end = CommandResult("killed", None)
    result = await perform("terminal", workspace, command="a\nb", cwd="/project/sub", timeout_s="7")
    assert workspace.commands == [Command("a\nb", "/project/sub", 7)]
    assert result.text == "killed\n[ended by something else, without an exit code]"


async def test_plan_replaces_the_plan() -> None:
    report = Report()
    entries = [{"content": "a", "status": "completed"}, {"content": "b", "priority": "high"}]
    proposal = await propose("plan", MemoryWorkspace(), entries=entries)
    assert report.plans == []
    await proposal.perform(report)
    assert report.plans == [(PlanEntry("a", "completed"), PlanEntry("b", "pending", "high"))]


def test_schemas_are_small_and_plain() -> None:
    schemas = [TOOLS.open(name).schema() for name in TOOLS]
    assert [schema.name for schema in schemas] == list(TOOLS.names())
    usual = [schema for schema in schemas if schema.name not in ("board", "card", "schedule")]
    assert len(msgspec.json.encode(usual)) < 12_850
    encoded = msgspec.json.encode(schemas)
    assert len(encoded) < 15_000  # In processes that drive runs, and in homes with a board.
    for word in (b"$ref", b"$defs", b'"title":"', b"null", b"anyOf"):
        assert word not in encoded
    plan = find_tool("plan").schema().parameters
    assert msgspec.to_builtins(plan)["properties"]["entries"]["items"]["required"] == ["content"]


@pytest.mark.parametrize("name", TOOLS.names())
def test_unknown_arguments_are_refused(name: str) -> None:
    with pytest.raises(ValidationError, match="Extra inputs"):
        find_tool(name).arguments.model_validate({"bogus": 1})


@pytest.mark.parametrize("chunk", [1, 7, 1000])
def test_bounded_output_cuts_between_characters(chunk: int) -> None:
    content = ("é" * 100 + "日" * 100).encode()
    output = BoundedOutput(kept=33)
    live = "".join(output.feed(content[start : start + chunk]) for start in range(0, len(content), chunk))
    assert live + output.finish() == content.decode()
    assert output.text() == "é" * 16 + f"\n[… {500 - 32 - 33} of 500 bytes left out here …]\n" + "日" * 11
    whole = BoundedOutput(kept=250)
    whole.feed(content)
    assert whole.text() == content.decode()


def test_the_gap_in_bounded_output_never_cuts_a_word_in_two() -> None:
    output = BoundedOutput(kept=200)
    lines = [f"line {number} with-one-long-word-at-its-end\n" for number in range(50)]
    output.feed("".join(lines).encode())
    head, tail = output.text().split("bytes left out here …]\n")
    assert head.rpartition("\n[… ")[0].splitlines(keepends=True)[-1] in [*lines, lines[3][:-1]]
    assert tail.splitlines(keepends=True)[0] in lines
    words = BoundedOutput(kept=200)
    words.feed(b"word " * 500)
    head, tail = words.text().split("bytes left out here …]\n")
    assert set(tail.split()) == {"word"}
    assert set(head.rpartition("\n[… ")[0].split()) == {"word"}
