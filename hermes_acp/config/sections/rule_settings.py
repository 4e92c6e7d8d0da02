"""`rules:` in a settings file: what to allow, ask about or deny, by tool, path, command or host."""

import shlex
from collections.abc import Mapping
from typing import Any, Final, Literal, cast

from pydantic import model_validator

from hermes_acp.config.settings_section import Section
from hermes_acp.core.policy_rules import AccessKind, Decision, Rule

DECISIONS: Final[tuple[Decision, ...]] = ("allow", "ask", "deny")
SUBJECTS: Final = ("path", "command", "host")
FIELDS: Final = frozenset({"tool", "access", *SUBJECTS})


class RuleSettings(Section):
    """One rule: `allow`, `ask` or `deny`, with what it applies to."""

    decision: Decision
    tool: str = ""
    path: str = ""
    access: AccessKind = "any"
    command: tuple[str, ...] = ()
    host: str = ""
    line: int = 0
    source: str = ""

    @model_validator(mode="before")
    @classmethod
    def _read(cls, written: object) -> object:
        if isinstance(written, RuleSettings):
            return written
        rule = cast("dict[str, Any]", written) if isinstance(written, dict) else {}
        if "decision" in rule:
            return rule
        line = rule.get("line", 0)
        try:
            return {"line": line, **_fields_of({k: v for k, v in rule.items() if k != "line"})}
        except ValueError as error:
            place = f"line {line}: " if line else ""
            raise ValueError(f"{place}{error}") from None

    def rule(self, file: str, *, is_users: bool) -> Rule:
        """Return the rule in the form used by the policy."""
        return Rule(
            decision=self.decision,
            tool=self.tool,
            path=self.path,
            access=self.access,
            command=self.command,
            host=self.host,
            source=self.source or f"line {self.line} of {file}",
            is_users=is_users,
        )


def with_lines(content: str, plain: Mapping[str, Any]) -> dict[str, Any]:
    """Add its line number to each rule in a settings file; `plain` is the parsed `content`."""
    rules = plain.get("rules")
    if not isinstance(rules, list):
        return dict(plain)
    lines = _lines_of_rules(content)
    numbered = [
        {**(cast("dict[str, Any]", rule) if isinstance(rule, dict) else {}), "line": line}
        for rule, line in zip(cast("list[object]", rules), lines, strict=False)
    ]
    return {**plain, "rules": numbered}


def _lines_of_rules(content: str) -> list[int]:
    import yaml

    root = yaml.compose(content, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    for key, value in getattr(root, "value", ()):
        if key.value == "rules":
            return [item.start_mark.line + 1 for item in value.value]
    return []


def _fields_of(written: Mapping[str, Any]) -> dict[str, object]:
    """Parse one rule. Raises ValueError."""
    named = [name for name in DECISIONS if name in written]
    if len(named) != 1 or len(written) != 1:
        raise ValueError(
            "a rule is allow, ask or deny, followed by what it applies to: `- deny: {command: curl}`"
        )
    (decision,) = named
    about = written[decision]
    if not isinstance(about, dict) or not about:
        raise ValueError(f"{decision} is empty; add tool, path, command or host")
    fields = cast("dict[object, object]", about)
    if unknown := [str(name) for name in fields if name not in FIELDS]:
        raise ValueError(f"{unknown[0][:40]!r} is not tool, path, access, command or host")
    if wrong := next((name for name in fields if not _is_text(name, fields[name])), None):
        raise ValueError(f"{wrong} must be text")
    subjects = [name for name in SUBJECTS if name in fields]
    if len(subjects) > 1:
        raise ValueError(f"name either {' or '.join(subjects)}, not both")
    if not subjects and "tool" not in fields:
        raise ValueError("access alone has no effect; add tool, path, command or host")
    access = _access(fields)
    words = _words(fields["command"]) if "command" in fields else ()
    rest = {name: fields[name] for name in ("tool", "path", "host") if name in fields}
    return {"decision": decision, "access": access, "command": words, **rest}


def _is_text(name: object, value: object) -> bool:
    if name == "command" and isinstance(value, list):
        return all(isinstance(word, str) for word in cast("list[object]", value))
    return isinstance(value, str) and bool(value.strip()) and "\0" not in value


def _access(fields: Mapping[object, object]) -> Literal["any", "read", "write"]:
    match fields.get("access", "any"):
        case "any" if "access" not in fields:
            return "any"
        case "read" if "path" in fields:
            return "read"
        case "write" if "path" in fields:
            return "write"
        case _:
            raise ValueError("access must be read or write, next to a path")


def _words(written: object) -> tuple[str, ...]:
    """Split the first words of a command; a trailing star is redundant and removed."""
    try:
        words = shlex.split(written) if isinstance(written, str) else cast("list[str]", written)
    except ValueError as error:
        raise ValueError(f"command cannot be split into words: {error}") from None
    words = words[:-1] if len(words) > 1 and words[-1] == "*" else words
    if not words or any(set(word) & set("*?;|&<>$`") for word in words):
        raise ValueError(
            "command is the first words of a simple command, such as `npm test`, without patterns"
        )
    return tuple(words)
