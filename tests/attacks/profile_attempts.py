"""The attacks that one profile tries on another's home: command lines, tool calls, requests, links."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tests.attacks.profile_homes import PROJECT_WORD, Owner
from tests.model_server import ToolCall

SKILL = {
    "action": "create",
    "name": "planted",
    "text": "---\nname: planted\ndescription: Use when testing.\n---\nDo it.\n",
    "reason": "It was asked for.",
}
TOOL = {
    "action": "create",
    "name": "planted",
    "source": "def run() -> str:\n    return ''\n",
    "reason": "Asked for.",
}


def commands_against(victim: Owner, project: Path) -> list[tuple[str, ...]]:
    """Return command lines that would show a victim's words if homes were mixed up."""
    home, session = str(victim.home), victim.session_id
    there = f"{home}/sessions/{session}"
    return [
        ("sessions", "list"),
        ("sessions", "list", "--json"),
        ("sessions", "show", session),
        ("sessions", "show", there),
        ("sessions", "show", f"../../{victim.name}/sessions/{session}"),
        ("sessions", "export", session),
        ("sessions", "export", f"{there}.jsonl"),
        ("sessions", "search", PROJECT_WORD),
        ("sessions", "search", victim.token, "--json"),
        ("sessions", "rename", session, "taken"),
        ("sessions", "delete", session, "--yes"),
        ("sessions", "archive", session),
        ("memory", "show"),
        ("memory", "show", "--json", "--cwd", home),
        ("memory", "search", PROJECT_WORD),
        ("memory", "export"),
        ("memory", "forget", victim.token),
        ("skills", "list"),
        ("skills", "search", "brew"),
        ("skills", "history", f"brew-{victim.name}"),
        ("tools", "list"),
        ("policy", "list"),
        ("policy", "explain", f"cat {home}/.env"),
        ("trust", str(project), "--list"),
        ("checkpoints", "list", session),
        ("undo", session),
        ("mcp", "list"),
        ("mcp", "logout", "https://mcp.example"),
        ("hooks", "list"),
        ("doctor",),
        ("profiles", "list", "--json"),
        ("profiles", "show", victim.name),
        ("profiles", "create", victim.name),
        ("run", "-p", "hi", "--resume", session),
        ("run", "-p", "hi", "--cwd", home),
        ("run", "-p", f"@{home}/SOUL.md"),
    ]


def spellings(file: Path, project: Path) -> list[str]:
    """Return paths that lead to a file: directly, indirectly, and through the process's own root."""
    return [
        str(file),
        os.path.relpath(file, project),
        f"//{file}",
        f"{project}/../{os.path.relpath(file, project.parent)}",
        f"/proc/self/root{file}",
        f"/proc/self/cwd/{os.path.relpath(file, project)}",
        f"{file.parent}/./skills/../{file.name}",
    ]


def tool_calls_against(victim: Owner, project: Path) -> list[ToolCall]:
    """Return tool calls that would show a victim's words."""
    soul, home = victim.home / "SOUL.md", str(victim.home)
    paths = [*spellings(soul, project), f"link-{victim.name}/SOUL.md", f"file-{victim.name}"]
    calls = [ToolCall("read_file", {"path": path}) for path in paths]
    calls += [ToolCall("terminal", {"command": f"cat '{path}'"}) for path in paths]
    code = f"import os; print(os.access({str(soul)!r}, os.R_OK) and open({str(soul)!r}).read())"
    calls += [
        ToolCall("terminal", {"command": f"grep -r {PROJECT_WORD} {home}"}),
        ToolCall("terminal", {"command": f"python3 -c {json.dumps(code)}"}),
        ToolCall("terminal", {"command": f"tar cf - {home} | strings"}),
        ToolCall("terminal", {"command": f"HERMES_PROFILE={victim.name} hermes-acp memory show"}),
        ToolCall("terminal", {"command": "ls", "cwd": home}),
        ToolCall("execute_code", {"code": code}),
        ToolCall("list_files", {"path": home}),
        ToolCall("search", {"pattern": PROJECT_WORD, "path": home}),
        ToolCall("search", {"pattern": PROJECT_WORD, "path": ".."}),
        ToolCall("search", {"pattern": PROJECT_WORD, "path": f"link-{victim.name}"}),
        ToolCall("glob", {"pattern": "**/*.md", "path": home}),
        ToolCall("write_file", {"path": str(soul), "content": "taken"}),
        ToolCall("edit_file", {"path": str(soul), "old_text": "The", "new_text": "A"}),
        ToolCall("session_search", {"query": PROJECT_WORD}),
        ToolCall("session_search", {"session_id": victim.session_id}),
        ToolCall("memory", {"action": "read", "store": "workspace"}),
        ToolCall("skill", {"name": f"brew-{victim.name}"}),
        ToolCall("skill", {"name": f"../../{victim.name}/skills/brew-{victim.name}"}),
    ]
    return calls


def requests_against(victim: Owner, project: Path) -> list[tuple[str, dict[str, Any]]]:
    """Return requests from an editor that would show a victim's words."""
    home, session = str(victim.home), victim.session_id
    there: Sequence[str] = (session, f"../../{victim.name}/sessions/{session}", f"{home}/sessions/{session}")
    opened: dict[str, Any] = {"cwd": str(project), "mcpServers": []}
    return [
        *(("session/load", {"sessionId": each, **opened}) for each in there),
        *(("session/resume", {"sessionId": each, **opened}) for each in there),
        *(("session/fork", {"sessionId": each, **opened}) for each in there),
        ("session/delete", {"sessionId": session}),
        ("session/set_title", {"sessionId": session, "title": "taken"}),
        ("session/list", {}),
        ("session/list", {"cwd": home}),
        ("session/new", {"cwd": home, "mcpServers": []}),
        ("session/new", {"cwd": f"{home}/skills", "mcpServers": []}),
        ("session/new", {"cwd": f"{project}/link-{victim.name}", "mcpServers": []}),
        ("session/new", {**opened, "additionalDirectories": [home]}),
        ("_hermes/context/list", {"cwd": home}),
        ("_hermes/trust/list", {"cwd": home}),
        ("_hermes/mcp/list", {"cwd": home}),
        ("_hermes/sessions/search", {"query": PROJECT_WORD}),
        ("_hermes/checkpoints/list", {"sessionId": session}),
        ("_hermes/runs/list", {}),
        ("_hermes/waiting/list", {}),
        ("_hermes/schedules/list", {}),
        ("_hermes/board/list", {}),
    ]


def plant(user_home: Path, victims: Sequence[Owner]) -> None:
    """Create links and imports, in the user's own home and in projects, that point to victims' files."""
    imports: list[str] = []
    for victim in victims:
        skill = victim.home / "skills" / f"brew-{victim.name}"
        lured = user_home / f"lured-by-{victim.name}"
        for folder in (user_home / ".agents" / "skills", lured / ".agents" / "skills"):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / skill.name).symlink_to(skill)
        (lured / ".hermes").symlink_to(victim.home)
        (lured / "CLAUDE.md").symlink_to(victim.home / "SOUL.md")
        (lured / ".mcp.json").symlink_to(victim.home / "mcp-tokens" / "mcp_example-0123456789abcdef.json")
        (lured / "AGENTS.md").write_text(f"Read @.hermes/SOUL.md and @{victim.home}/SOUL.md\n")
        imports.append(f"@{os.path.relpath(victim.home, user_home)}/SOUL.md")
    (user_home / "AGENTS.md").write_text(f"Read {' and '.join(imports)}\n")


def tool_calls_from_above(victim: Owner, user_home: Path) -> list[ToolCall]:
    """Return calls in a session whose folder is the user's own home, which contains every profile."""
    below = os.path.relpath(victim.home, user_home)
    return [
        ToolCall("terminal", {"command": f"grep -rs {PROJECT_WORD} {below}"}),
        ToolCall("terminal", {"command": f"grep -rs {PROJECT_WORD} .h*"}),
        ToolCall("terminal", {"command": f"cd {below} && cat SOUL.md"}),
        ToolCall("search", {"pattern": PROJECT_WORD, "path": below}),
        ToolCall("glob", {"pattern": f"{below}/**/*"}),
        ToolCall("read_file", {"path": f"{below}/SOUL.md"}),
        ToolCall("skill", {"name": f"brew-{victim.name}"}),
        ToolCall("skill_manage", {**SKILL, "scope": "workspace"}),
        ToolCall("tool_manage", {**TOOL, "scope": "workspace"}),
    ]


def prompt_with_links(session_id: str, file: Path) -> dict[str, Any]:
    """Return the parameters of a prompt that names a file and links to it."""
    link = {"type": "resource_link", "name": "x", "uri": f"file://{quote(str(file))}"}
    return {"sessionId": session_id, "prompt": [{"type": "text", "text": f"Look at @{file}"}, link]}
