"""Parse a profile for macOS's sandbox, and decide as its kernel does: the last matching rule wins.

Covers the part of the language that our profiles use. Source: Apple's profiles in /System/Library/Sandbox/Profiles.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

OPERATIONS = frozenset({
    "default", "file-ioctl", "file-read*", "file-read-data", "file-read-metadata", "file-read-xattr", "file-write*",
    "file-write-create", "file-write-data", "file-write-setugid", "file-write-unlink", "ipc-posix-sem", "mach-lookup",
    "network-bind", "network-inbound", "network-outbound", "process-exec", "process-fork", "process-info*",
    "pseudo-tty", "signal", "sysctl-read", "system-socket",
})  # fmt: skip
FILTERS = frozenset({
    "global-name", "literal", "local", "regex", "remote", "subpath", "sysctl-name", "sysctl-name-prefix", "target",
})  # fmt: skip
_TOKEN = re.compile(
    r'\s+|;[^\n]*|(?P<open>\()|(?P<close>\))|(?P<text>#?"(?:[^"\\]|\\.)*")|(?P<word>[^\s()";]+)'
)

Form = str | list["Form"]


class Rule(Struct, frozen=True):
    """One rule: whether it allows, its operations and its filters as name and value."""

    allows: bool
    operations: tuple[str, ...]
    filters: tuple[tuple[str, str], ...]


def parse(text: str, parameters: Sequence[str]) -> list[Rule]:
    """Return the rules of a profile. Raises ValueError for unknown syntax."""
    values = {f"P{number}": value for number, value in enumerate(parameters)}
    tokens = _tokens(text)
    forms = [_form(token, tokens) for token in tokens]
    if forms[0] != ["version", "1"]:
        raise ValueError(f"not a profile: {forms[0]}")
    return [_rule(form, values) for form in forms[1:]]


def _tokens(text: str) -> Iterator[str]:
    place = 0
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None:
            raise ValueError(f"unreadable: {text[place : place + 20]}")
        if found.lastgroup:
            yield found.group()
        place = found.end()


def _form(token: str, tokens: Iterator[str]) -> Form:
    if token != "(":
        return token
    inner: list[Form] = []
    for each in tokens:
        if each == ")":
            return inner
        inner.append(_form(each, tokens))
    raise ValueError("a parenthesis stays open")


def _rule(form: Form, values: Mapping[str, str]) -> Rule:
    if not isinstance(form, list) or form[0] not in ("allow", "deny"):
        raise ValueError(f"not a rule: {form}")
    operations = tuple(each for each in form[1:] if isinstance(each, str))
    filters = [_filter(each, values) for each in form[1:] if isinstance(each, list)]
    if unknown := [each for each in operations if each not in OPERATIONS]:
        raise ValueError(f"unknown operations: {unknown}")
    return Rule(form[0] == "allow", operations, tuple(filters))


def _filter(form: Sequence[Form], values: Mapping[str, str]) -> tuple[str, str]:
    name, value = form[0], form[-1]
    if not isinstance(name, str) or name not in FILTERS:
        raise ValueError(f"unknown filter: {form}")
    if isinstance(value, list):
        if value[0] != "param" or not isinstance(value[1], str):
            raise ValueError(f"unknown value: {value}")
        return name, values[value[1].strip('"')]
    return name, value.removeprefix("#").strip('"')


def is_allowed(rules: Sequence[Rule], operation: str, subject: str = "") -> bool:
    """Return whether an operation on a path or a name is allowed."""
    decision = False
    for rule in rules:
        if any(_covers(each, operation) for each in rule.operations) and _matches(rule, subject):
            decision = rule.allows
    return decision


def _covers(pattern: str, operation: str) -> bool:
    if pattern == "default":
        return True
    return operation.startswith(pattern[:-1]) if pattern.endswith("*") else pattern == operation


def _matches(rule: Rule, subject: str) -> bool:
    if not rule.filters:
        return True
    return any(_applies(name, value, subject) for name, value in rule.filters)


def _applies(name: str, value: str, subject: str) -> bool:
    match name:
        case "subpath":
            return subject == value or subject.startswith(f"{value}/")
        case "regex":
            return re.search(value, subject) is not None
        case "sysctl-name-prefix":
            return subject.startswith(value)
        case _:
            return subject == value
