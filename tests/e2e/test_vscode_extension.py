"""The extension's own tests: its pure parts, its parts inside a real extension host, and its package."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path

import pytest

from tests.e2e.vscode_editor import (
    BUILD_WAIT_S,
    DRIVER,
    EXTENSION,
    RUN_WAIT_S,
    VSIX,
    build_extension,
    require_editor,
    run_node,
)

pytestmark = pytest.mark.slow

MAX_PACKAGE_BYTES = 1_500_000
MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60
FUNCTION = re.compile(
    r"^( *)(?:export )?(?:(?:async )?function \w+|const \w+ = (?:memo\()?(?:async )?\(|"
    r"(?:private |async |static )*\w+\([^;]*\{$)"
)


@pytest.fixture(scope="module")
def browser(require_all: bool) -> str:
    found = require_editor(is_required=require_all)
    build_extension(found)
    return found


@pytest.mark.parametrize("project", [".", "src/webview", "test"])
def test_the_extension_type_checks(browser: str, project: str) -> None:
    done = run_node(["node_modules/typescript/bin/tsc", "-p", project], browser=browser, wait_s=BUILD_WAIT_S)
    assert done.returncode == 0, done.stdout


def test_the_sources_are_formatted(browser: str) -> None:
    prettier = "node_modules/prettier/bin/prettier.cjs"
    done = run_node([prettier, "--check", "--log-level", "warn", "."], browser=browser, wait_s=BUILD_WAIT_S)
    assert done.returncode == 0, done.stderr


def test_pure_parts(browser: str) -> None:
    done = run_node(["node_modules/vitest/vitest.mjs", "run"], browser=browser, wait_s=BUILD_WAIT_S)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"


def test_parts_inside_the_extension_host(browser: str, tmp_path: Path) -> None:
    config = json.dumps({"folder": str(tmp_path), "extension": str(EXTENSION)})
    done = run_node([str(DRIVER / "host.mjs"), config], browser=browser, wait_s=RUN_WAIT_S)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"
    assert "passing" in done.stdout


def test_rows_of_a_long_conversation(browser: str) -> None:
    """In the browser: rows are contiguous, stay in place while they are read, and the end stays in view."""
    done = run_node([str(DRIVER / "rows.mjs"), str(EXTENSION)], browser=browser, wait_s=RUN_WAIT_S)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"


def test_the_package_is_small_and_contains_what_it_needs(browser: str) -> None:
    assert VSIX.stat().st_size <= MAX_PACKAGE_BYTES
    with zipfile.ZipFile(VSIX) as package:
        names = set(package.namelist())
    scripts = {
        f"dist/{name}.js" for name in ("extension", "link", "language_client", "webview", "math", "diagrams")
    }
    needed = {"package.json", *scripts, "dist/webview.css", "dist/codicon.ttf"}
    assert {f"extension/{name}" for name in needed} <= names
    assert not any("node_modules" in name or name.endswith(".map") for name in names)


def test_files_and_functions_stay_small() -> None:
    files = sorted([*EXTENSION.glob("src/**/*.ts"), *EXTENSION.glob("src/**/*.tsx")])
    assert len(files) > 40
    texts = {str(file.relative_to(EXTENSION)): file.read_text().splitlines() for file in files}
    texts = {name: lines for name, lines in texts.items() if "generated from" not in " ".join(lines[:3])}
    assert not {name: len(lines) for name, lines in texts.items() if len(lines) > MAX_FILE_LINES}
    assert not [
        f"{name}:{start + 1}: {length} lines"
        for name, lines in texts.items()
        for start, length in _functions(lines)
        if length > MAX_FUNCTION_LINES
    ]


def _functions(lines: list[str]) -> list[tuple[int, int]]:
    """Return where each function in a formatted file starts, and its length, up to the closing brace at its level."""
    found: list[tuple[int, int]] = []
    for start, line in enumerate(lines):
        if begun := FUNCTION.match(line):
            ends = (begun[1] + "}", begun[1] + "},", begun[1] + "};", begun[1] + "});")
            end = next(
                (at for at, each in enumerate(lines[start:], start) if at > start and each in ends), start
            )
            found.append((start, end - start + 1))
    return found
