"""No text advises installing this program by name from an index where anybody could register that name."""

import re
import subprocess
from pathlib import Path

from tests.architecture.sources import ROOT

TEXTS = frozenset(
    {
        *(
            "",
            ".py",
            ".md",
            ".ts",
            ".tsx",
            ".js",
            ".json",
            ".toml",
            ".cfg",
            ".sh",
            ".el",
            ".lua",
            ".yml",
            ".yaml",
        ),
        *(".txt", ".mjs", ".service", ".tpl", ".html", ".rst"),
    }
)
LEFT_OUT = ("CHANGELOG.md", "tests/architecture/test_install_advice.py", "package-lock.json")
BY_NAME = re.compile(
    r"(?:pip3? (?:install|download|wheel)|pipx (?:install|run|upgrade|inject)|uv tool (?:install|run|upgrade)"
    r"|uv pip (?:install|compile)|uv add|uv run --with|uvx|uvx --from|conda install|poetry add)"
    r"(?: -\S+)* [`'\"]*hermes[-_]acp(?![\w-]*(?:\[[\w,-]+\])? @ )"
    r"|\"(?:package|default)\": \"hermes-acp-server"
)


def texts() -> list[Path]:
    """List the tracked text files."""
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    ).stdout.splitlines()
    return [ROOT / name for name in listed if Path(name).suffix in TEXTS and not name.endswith(LEFT_OUT)]


def test_no_text_installs_by_name_from_an_index() -> None:
    advice = [
        f"{path.relative_to(ROOT)}: {found[0]}"
        for path in texts()
        if path.is_file()
        for found in BY_NAME.finditer(path.read_text(encoding="utf-8", errors="replace"))
    ]
    assert advice == []


def test_the_pattern_matches_the_usual_commands() -> None:
    for bad in (
        "pip install hermes-acp-server",
        "pip install -U 'hermes-acp-server[serve]'",
        "uvx hermes-acp",
        'uvx --from "hermes-acp-server" hermes-acp',
        "pipx install hermes_acp",
        "uv tool install hermes-acp-server",
        "python -m pip install --upgrade hermes-acp-server",
        "pipx upgrade hermes-acp-server",
        "uv add hermes-acp-server[serve]",
        "pip install 'hermes-acp-server[serve]'",
    ):
        assert BY_NAME.search(bad), bad
    for good in (
        "pip install .",
        "pip install './hermes_acp_server-0.1.0-py3-none-any.whl'",
        "bin/pip install '.[serve]'",
        "pip install 'hermes-acp-server[serve] @ file:///home/me/hermes_acp_server-0.1.0-py3-none-any.whl'",
    ):
        assert not BY_NAME.search(good), good
