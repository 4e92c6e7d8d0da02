"""The scanner's findings in handmade files, recorded in golden_findings.json so that any change shows up in a diff."""

import json
from pathlib import Path

import pytest

from injection_scanner.scanner import scan

FILES = json.loads(Path(__file__).with_name("golden_findings.json").read_text("utf-8"))


def test_there_are_enough_files_and_some_are_harmless() -> None:
    assert len(FILES) >= 40
    assert sum(not file["findings"] for file in FILES) >= 5


@pytest.mark.parametrize("file", FILES, ids=[file["name"] for file in FILES])
def test_the_findings_are_as_recorded(file: dict[str, object]) -> None:
    found = scan(str(file["text"])).findings
    assert [f"{f.line} {f.severity} {f.rule}" for f in found if f.severity != "info"] == file["findings"]


@pytest.mark.parametrize("file", FILES, ids=[file["name"] for file in FILES])
def test_harmless_parts_of_a_file_are_kept(file: dict[str, object]) -> None:
    clean = scan(str(file["text"])).clean_text
    assert "Use two spaces. Run `make test` before each commit." in clean
    assert "- Publish from CI only." in clean
