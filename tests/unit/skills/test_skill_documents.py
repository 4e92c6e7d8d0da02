"""Parsing of skill files: the standard's format, and common deviations."""

import pytest

from hermes_acp.skills.skill_document import SkillDocument, read_document

WHOLE = """---
name: pdf-processing
description: Extract text from PDF files. Use when handling PDFs.
license: Apache-2.0
compatibility: Requires poppler
metadata:
  author: example-org
  version: "1.0"
allowed-tools: Bash(git:*) Read
---
# PDF

Do it.
"""


def read(text: str, folder: str = "pdf-processing") -> SkillDocument:
    document, _ = read_document(text, folder)
    assert document
    return document


def mistakes(text: str, folder: str = "pdf-processing") -> str:
    return " ".join(mistake.text for mistake in read_document(text, folder)[1])


def test_every_field_of_the_standard_is_read() -> None:
    assert read(WHOLE) == SkillDocument(
        name="pdf-processing",
        description="Extract text from PDF files. Use when handling PDFs.",
        body="# PDF\n\nDo it.",
        compatibility="Requires poppler",
        metadata={"author": "example-org", "version": "1.0"},
        lines_before=WHOLE.splitlines().index("# PDF"),
    )
    assert mistakes(WHOLE) == ""


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("# No front matter", "does not begin with front matter"),
        ("---\njust words\n---\nx", "no `name: value` lines"),
        ("---\nname: pdf-processing\n---\nx", "no description"),
        ("---\nname: PDF_Tool\ndescription: d\n---\nx", "must be at most 64"),
        ("---\nname: -pdf\ndescription: d\n---\nx", "must be at most 64"),
        ("---\nname: a--b\ndescription: d\n---\nx", "must be at most 64"),
        (f"---\nname: {'a' * 65}\ndescription: d\n---\nx", "must be at most 64"),
    ],
)
def test_an_unusable_skill_says_why(text: str, why: str) -> None:
    document, _ = read_document(text, "PDF processing")
    assert document is None
    assert why in mistakes(text)


def test_common_mistakes_are_accepted_and_reported() -> None:
    colon = "---\nname: pdf-processing\ndescription: Use it: always\n---\nx"
    assert read(colon).description == "Use it: always"
    assert "line by line" in mistakes(colon)
    assert read("---\r\ndescription: d\r\n---\r\nx", "from-folder").name == "from-folder"
    assert "but its folder is called other" in mistakes(WHOLE, "other")
    assert len(read(f"---\nname: a\ndescription: {'d' * 3000}\n---\nx", "a").description) == 1024


@pytest.mark.parametrize("where", ["", "metadata:\n  "])
def test_conditions_are_read_wherever_they_are(where: str) -> None:
    text = f"---\nname: a\ndescription: d\n{where}platforms: [linux, macOS]\n---\n"
    assert read(text, "a").platforms == ("linux", "macos")
    text = f"---\nname: a\ndescription: d\n{where}requires-tools: terminal, browser\n---\n"
    assert read(text, "a").requires_tools == ("terminal", "browser")
    text = f"---\nname: a\ndescription: d\n{where}surfaces: [CI, chat, headless]\n---\n"
    assert read(text, "a").surfaces == ("headless", "chat")
    text = f"---\nname: a\ndescription: d\n{where}requires_toolsets: [web]\n---\n"
    assert read(text, "a").requires_groups == ("web",)


def test_an_unknown_surface_is_a_mistake() -> None:
    document, mistakes = read_document("---\nname: a\ndescription: d\nsurfaces: [phone]\n---\n", "a")
    assert document is None
    assert "'phone' is unknown. Use editor, terminal, headless, chat, voice." in mistakes[0].text


def test_a_skill_applies_to_its_surfaces_and_to_sessions_with_an_unknown_surface() -> None:
    for_chat = read("---\nname: a\ndescription: d\nsurfaces: chat\n---\n", "a")
    for_all = read("---\nname: a\ndescription: d\n---\n", "a")
    assert [for_chat.suits(surface) for surface in ("chat", "", "editor")] == [True, True, False]
    assert for_all.suits("voice")


@pytest.mark.parametrize("name", ["PDF Processing", "../../etc", "Ünï"])
def test_a_skill_with_an_invalid_name_is_named_after_its_folder(name: str) -> None:
    document, mistakes = read_document(f"---\nname: {name}\ndescription: Reads PDFs.\n---\nDo it.\n", "pdf")
    assert document
    assert document.name == "pdf"
    assert [mistake.weight for mistake in mistakes] == ["warning"]
    assert "its folder's name, pdf, is used" in mistakes[0].text
    assert read_document(f"---\nname: {name}\ndescription: d\n---\n", "No Name")[0] is None
