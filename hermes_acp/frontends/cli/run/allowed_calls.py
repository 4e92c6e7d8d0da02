"""Convert the values of `--allow` to rules for one run, which are not stored.

Entries have the format that other agents use: `edit`, `edit(docs/**)`, `bash(pytest *)`, `web_fetch(docs.python.org)`,
`mcp__github__list_issues`. It works like the same rule in the settings: denials stay in effect, and commands stay
confined.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Literal

from hermes_acp.config.sections.rule_settings import RuleSettings
from hermes_acp.core.errors import BadRequest
from hermes_acp.frontends.cli.messages import run_messages
from hermes_acp.frontends.command_line.nearest_words import nearest

Kind = Literal["command", "write", "read", "host", "tool", "script"]
TOOLS: Final[Mapping[str, tuple[Kind, str]]] = MappingProxyType(
    {
        **dict.fromkeys(("bash", "shell", "terminal", "run_shell_command"), ("command", "")),
        **dict.fromkeys(
            ("edit", "write", "multiedit", "replace", "edit_file", "write_file", "apply_patch"), ("write", "")
        ),
        "notebookedit": ("write", ""),
        "notebook_edit": ("write", ""),
        **dict.fromkeys(("read", "read_file", "glob", "grep", "search", "list_files"), ("read", "")),
        **dict.fromkeys(("web_fetch", "webfetch", "fetch"), ("host", "web_fetch")),
        **dict.fromkeys(("web_search", "websearch"), ("host", "web_search")),
        "browser": ("host", "browser"),
        "session_search": ("tool", "session_search"),
        "memory": ("tool", "memory"),
        "skill_manage": ("tool", "skill_manage"),
        "execute_code": ("script", ""),
    }
)
"""Tool names of this agent and of others, in lower case, with the kind of rule and the tool that they stand for."""
ENTRY: Final = re.compile(r"\s*(?P<tool>[^\s(),]+)\s*(?:\((?P<subject>.*)\))?\s*", re.DOTALL)
GLOB: Final = re.compile(r"([*?\[])")


def allowing_rules(entries: Sequence[str], folders: Sequence[str]) -> tuple[RuleSettings, ...]:
    """Convert all entries to rules; entries without a path apply to the folders. Raises BadRequest."""
    return tuple(rule for text in entries for entry in _split(text) for rule in _rules_of(entry, folders))


def _split(text: str) -> list[str]:
    """Split a list at commas that are not in parentheses."""
    found, depth, start = list[str](), 0, 0
    for place, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if character == "," and depth <= 0:
            found.append(text[start:place])
            start = place + 1
    return [each for each in (*found, text[start:]) if each.strip()] or [text]


def _rules_of(entry: str, folders: Sequence[str]) -> Iterable[RuleSettings]:
    written = ENTRY.fullmatch(entry)
    if not written:
        raise BadRequest(run_messages.bad_allow(entry), hint=run_messages.ALLOW_HINT)
    tool, subject = written["tool"], (written["subject"] or "").strip()
    if tool.lower().startswith("mcp__"):
        return (_rule(entry, tool=_of_server(tool)),)
    if tool.lower() not in TOOLS:
        raise BadRequest(
            run_messages.unknown_tool(tool, nearest(tool.lower(), TOOLS)), hint=run_messages.ALLOW_HINT
        )
    kind, name = TOOLS[tool.lower()]
    match kind:
        case "command":
            if not subject or subject == "*":
                raise BadRequest(
                    run_messages.allow_names_no_command(entry), hint=run_messages.ALLOW_COMMAND_HINT
                )
            return (_rule(entry, command=_first_words(subject)),)
        case "script":
            raise BadRequest(run_messages.allow_cannot_cover(tool), hint=run_messages.ALLOW_COMMAND_HINT)
        case "write" | "read":
            globs = [subject] if subject else [f"{_literally(folder)}/**" for folder in folders]
            return [_rule(entry, path=glob, access=kind) for glob in globs]
        case "host":
            return (_rule(entry, tool=name, host=subject.removeprefix("domain:").strip() or "*"),)
        case "tool":
            return (_rule(entry, tool=name),)


def _literally(folder: str) -> str:
    """Return a pattern that matches only the given folder."""
    return GLOB.sub(r"[\1]", folder)


def _of_server(tool: str) -> str:
    """Return the pattern for a tool of an MCP server, or for all its tools if only the server is named."""
    return tool if "__" in tool.removeprefix("mcp__") else f"{tool}__*"


def _first_words(subject: str) -> str:
    """Return the first words of a command, without the star at the end."""
    return re.sub(r"(:\*|\s+\*)$", "", subject).strip()


def _rule(entry: str, **about: Any) -> RuleSettings:
    from pydantic import ValidationError

    try:
        rule = RuleSettings.model_validate({"allow": about})
    except ValidationError as error:
        reason = re.sub("^Value error, ", "", error.errors()[0]["msg"])
        raise BadRequest(
            run_messages.bad_allow_because(entry, reason), hint=run_messages.ALLOW_HINT
        ) from error
    return rule.model_copy(update={"source": f"--allow {entry.strip()}"})
