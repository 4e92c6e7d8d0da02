"""A workspace's own configuration: its items, which of them take effect, and how each is identified."""

import json
from pathlib import Path

import msgspec
import pytest

from hermes_acp.config.sections.claude_hooks import HOOK_FILES
from hermes_acp.config.workspace_settings import OWN_FILES, SERVER_FILES, WorkspaceSettings, read_workspace
from hermes_acp.policy.workspace_trust import FILES


def write(folder: Path, name: str, content: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


def read(folder: Path) -> WorkspaceSettings:
    return read_workspace(str(folder), str(folder / "agent-home"))


def test_the_watched_files_are_those_that_are_read() -> None:
    assert (*OWN_FILES, *SERVER_FILES, *HOOK_FILES) == FILES


def test_an_empty_workspace_has_no_items(tmp_path: Path) -> None:
    assert read(tmp_path) == WorkspaceSettings()


def test_servers_are_read_from_every_file(tmp_path: Path) -> None:
    write(tmp_path, ".mcp.json", '{"mcpServers": {"a": {"command": "node", "args": ["a.js"]}}}')
    write(tmp_path, ".cursor/mcp.json", '{"mcpServers": {"b": {"url": "https://b.example", "type": "sse"}}}')
    write(tmp_path, ".vscode/mcp.json", '{"servers": {"c": {"type": "stdio", "command": "c", "x": 1}}}')
    write(tmp_path, ".hermes/config.yaml", "mcp_servers:\n  d: {command: d}\n")
    found = read(tmp_path)
    assert {server.name: server.item.about for server in found.servers} == {
        "d": "d  (.hermes/config.yaml)",
        "a": "node a.js  (.mcp.json)",
        "b": "https://b.example  (.cursor/mcp.json)",
        "c": "c  (.vscode/mcp.json)",
    }
    assert found.servers[2].settings.transport == "sse"
    assert {item.kind for item in found.items} == {"mcp_server"}


def test_a_changed_entry_is_another_item(tmp_path: Path) -> None:
    entry = {"command": "node", "args": ["run.js"], "env": {"A": "1"}}
    digests: set[str] = set()
    for change in ({}, {"command": "nodejs"}, {"args": ["run.js", "x"]}, {"env": {"A": "2"}}):
        write(tmp_path, ".mcp.json", json.dumps({"mcpServers": {"a": {**entry, **change}}}))
        digests.add(read(tmp_path).items[0].digest)
    write(tmp_path, "run.js", "evil()")
    write(tmp_path, ".mcp.json", json.dumps({"mcpServers": {"a": entry}}))
    digests.add(read(tmp_path).items[0].digest)
    assert len(digests) == 5
    write(tmp_path, ".mcp.json", json.dumps({"mcpServers": {"z": {"command": "z"}, "a": entry}}))
    assert read(tmp_path).items[1].digest in digests


def test_only_rules_that_allow_need_trust(tmp_path: Path) -> None:
    write(tmp_path, ".hermes/policy.yaml", "rules:\n- deny: {command: curl}\n- ask: {path: x}\n")
    found = read(tmp_path)
    assert ([rule.is_users for rule in found.rules], found.items) == ([False, False], ())
    write(tmp_path, ".hermes/policy.yaml", "rules:\n- allow: {command: make}\n")
    assert "allow command make" in read(tmp_path).items[0].about


def test_a_workspace_sets_nothing_else(tmp_path: Path) -> None:
    write(tmp_path, ".hermes/config.yaml", "mode: bypass\nallow_bypass: true\nproviders: {}\nmodel: x\n")
    found = read(tmp_path)
    assert found == WorkspaceSettings(notices=found.notices)
    assert "allow_bypass, mode, model, providers" in found.notices[0]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(
    "content", ["{", "[]", "5", "\0", "rules: 5", "mcp_servers: [a]", '{"mcpServers": 5, "servers": []}']
)
def test_invalid_entries_are_omitted(tmp_path: Path, name: str, content: str) -> None:
    write(tmp_path, name, content)
    found = read(tmp_path)
    assert (found.rules, found.items) == ((), ())


def test_the_agents_home_folder_is_not_a_workspace(tmp_path: Path) -> None:
    write(tmp_path, ".hermes/config.yaml", "rules:\n- allow: {command: make}\n")
    assert read_workspace(str(tmp_path), str(tmp_path / ".hermes")) == WorkspaceSettings()


def test_a_notice_says_nothing_about_a_file_it_should_not_have_read(tmp_path: Path) -> None:
    secret = "the-secret-of-another-file"
    write(tmp_path, "other", f"root:{secret}:0\n[")
    (tmp_path / ".mcp.json").symlink_to(tmp_path / "other")
    assert secret.encode() not in msgspec.json.encode(read(tmp_path))


def digest_of(folder: Path, entry: dict[str, object]) -> str:
    write(folder, ".mcp.json", json.dumps({"mcpServers": {"a": entry}}))
    (server,) = read(folder).servers
    return server.item.digest


PYTHON_MODULE: dict[str, object] = {"command": "python3", "args": ["-m", "served"]}


@pytest.mark.parametrize(
    ("entry", "before", "changed"),
    [
        (PYTHON_MODULE, {"served.py": "1"}, "served.py"),
        (PYTHON_MODULE, {"served/__init__.py": "", "served/__main__.py": "1"}, "served/__main__.py"),
        (
            {"command": "python3", "args": ["a/run.py"]},
            {"a/run.py": "import aid", "a/aid.py": "1"},
            "a/aid.py",
        ),
        (
            {"command": "python3", "args": ["run.py"]},
            {"run.py": "from p.q import r", "p/q.py": "1"},
            "p/q.py",
        ),
        ({"command": "python3", "args": ["run.py"]}, {"run.py": "import json"}, "json.py"),
        ({"command": "python3", "args": ["run.py"]}, {"run.py": "import json"}, "decimal.py"),
        ({"command": "npm", "args": ["run", "mcp"]}, {"package.json": "{}"}, "package.json"),
        ({"command": "npm", "args": ["run", "mcp"]}, {"package.json": '{"a": "node x/y.js"}'}, "x/y.js"),
        ({"command": "npx", "args": ["tool"]}, {"a": ""}, "node_modules/.bin/tool"),
        ({"command": "sh", "args": ["-c", "exec ./run.sh"]}, {"run.sh": "1"}, "run.sh"),
        ({"command": "./run.sh"}, {"run.sh": ". lib/aid.sh", "lib/aid.sh": "1"}, "lib/aid.sh"),
        (
            {"command": "node", "args": ["."]},
            {"index.js": "import './lib/a.js'", "lib/a.js": "1"},
            "lib/a.js",
        ),
        ({"command": "node", "args": ["a.mjs"]}, {"a.mjs": "const b = require('./b')"}, "b.js"),
        ({"command": "ls", "env": {"LD_PRELOAD": "./evil.so"}}, {"evil.so": "1"}, "evil.so"),
        ({"command": "uv", "args": ["run", "x"]}, {"pyproject.toml": ""}, "pyproject.toml"),
    ],
)
def test_files_that_a_command_line_depends_on_are_part_of_the_item(
    tmp_path: Path, entry: dict[str, object], before: dict[str, str], changed: str
) -> None:
    for name, content in before.items():
        write(tmp_path, name, content)
    first = digest_of(tmp_path, entry)
    write(tmp_path, "unrelated.md", "x")
    assert digest_of(tmp_path, entry) == first
    write(tmp_path, changed, "evil()")
    assert digest_of(tmp_path, entry) != first


def test_a_huge_script_is_identified_by_metadata_that_shows_changes(tmp_path: Path) -> None:
    write(tmp_path, "run", "x" * (5 << 20))
    first = digest_of(tmp_path, {"command": "./run"})
    assert digest_of(tmp_path, {"command": "./run"}) == first
    write(tmp_path, "run", "y" * (5 << 20))
    assert digest_of(tmp_path, {"command": "./run"}) != first


def test_words_that_cannot_be_paths_cause_no_error(tmp_path: Path) -> None:
    assert digest_of(tmp_path, {"command": "ls", "args": ["A" * 5000, "a\0b", "x/" * 3000]})


def test_a_question_shows_variables_and_headers_and_separates_words(tmp_path: Path) -> None:
    servers = {
        "a": {"command": "ls", "args": ["x y"], "env": {"LD_PRELOAD": "./evil.so"}},
        "b": {"url": "https://b.example", "headers": {"X-Key": "k"}},
    }
    write(tmp_path, ".mcp.json", json.dumps({"mcpServers": servers}))
    first, second = read(tmp_path).items
    assert first.about == "LD_PRELOAD=./evil.so ls 'x y'  (.mcp.json)"
    assert second.about == "https://b.example with the headers X-Key  (.mcp.json)"


@pytest.mark.parametrize("hooks", ["{start: [touch ran]}", "[start]", "{1: 2}", "later"])
def test_invalid_hooks_disable_no_rule(tmp_path: Path, hooks: str) -> None:
    write(tmp_path, ".hermes/config.yaml", f"rules:\n- deny: {{command: ls}}\nhooks: {hooks}\n")
    found = read(tmp_path)
    assert [rule.decision for rule in found.rules] == ["deny"]
    assert found.hooks == ()
    (notice,) = found.notices
    assert "hook" in notice
    assert "is not used" in notice


def test_a_hook_is_an_item_with_its_command_and_changes_with_the_files_it_names(tmp_path: Path) -> None:
    (tmp_path / "lint.sh").write_text("true\n")
    off = "off: {event: prompt, command: x, enabled: false}"
    line = f"hooks: {{lint: {{event: after_tool, tools: [edit], command: sh lint.sh}}, {off}}}\n"
    write(tmp_path, ".hermes/config.yaml", line)
    (item,) = read(tmp_path).items
    assert (item.kind, item.name) == ("hook", "lint")
    assert item.about == "after_tool (edit): sh lint.sh  (.hermes/config.yaml)"
    (tmp_path / "lint.sh").write_text("false\n")
    assert read(tmp_path).items != (item,)
    (tmp_path / "lint.sh").write_text("true\n")
    assert read(tmp_path).items == (item,)
    write(tmp_path, ".hermes/config.yaml", line.replace("tools: [edit]", "tools: [read]"))
    assert read(tmp_path).items != (item,)
