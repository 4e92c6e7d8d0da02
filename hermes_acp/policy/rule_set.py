"""The rules that apply in one workspace: deny takes precedence over ask, and ask over allow.

Restricting rules are matched broadly, allowing rules narrowly.
"""

import os
import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal

from hermes_acp.core.denied_paths import DeniedPath
from hermes_acp.core.policy_rules import Rule
from hermes_acp.policy.sensitive_names import holds_secrets, is_protected

if TYPE_CHECKING:
    from hermes_acp.policy.shell.command_step import Step

ORDER: Final = ("deny", "ask", "allow")
MIN_LITERAL_NAMES: Final = 3
GLOB_CHARACTERS: Final = frozenset("*?[")


class RuleSet:
    """The rules as they apply in one folder, from which relative globs start. `user_home` is what `~` expands to."""

    def __init__(self, rules: Iterable[Rule] = (), place: str = "/", user_home: str = "/") -> None:
        self._rules = tuple(rules)
        self._place = place
        self._user_home = user_home
        self._globs: dict[Rule, tuple[str, ...]] = {}

    @property
    def watched(self) -> frozenset[str]:
        """The programs that some rule denies or asks about."""
        return frozenset(
            _base(rule.command[0]) for rule in self._rules if rule.command and rule.decision != "allow"
        )

    def for_path(self, path: str, access: Literal["read", "write"], tool: str) -> Rule | None:
        """Return the rule that decides about an absolute, resolved path."""
        return _first(
            rule
            for rule in self._rules_of(tool)
            if rule.path and rule.access in ("any", access) and self._fits_path(rule, path)
        )

    def for_host(self, host: str, tool: str) -> Rule | None:
        """Return the rule that decides about a host."""
        return _first(
            rule
            for rule in self._rules_of(tool)
            if rule.host and fnmatchcase(host.lower(), rule.host.lower())
        )

    def for_tool(self, tool: str) -> Rule | None:
        """Return the rule for a tool as a whole, whatever its arguments."""
        return _first(
            rule
            for rule in self._rules_of(tool)
            if rule.tool and not (rule.path or rule.command or rule.host)
        )

    def for_step(self, step: "Step", tool: str) -> Rule | None:
        """Return the rule that decides about one step of a command."""
        return _first(rule for rule in self._rules_of(tool) if rule.command and _fits_step(rule, step))

    def named_in(self, text: str, tool: str) -> Rule | None:
        """Return a rule that denies a program whose name appears anywhere in a text."""
        return next(
            (
                rule
                for rule in self._rules_of(tool)
                if rule.decision == "deny"
                and rule.command
                and re.search(rf"(?<![\w-]){re.escape(_base(rule.command[0]))}(?![\w-])", text)
            ),
            None,
        )

    def denied_paths(self, tools: Sequence[str]) -> tuple[DeniedPath, ...]:
        """Return the paths for which rules deny any of these tools or ask about them."""
        rules = [rule for tool in ("", *tools) for rule in self._rules_of(tool)]
        return tuple(
            _closure_of(glob, hides=rule.access != "write")
            for rule in dict.fromkeys(rules)
            if rule.path and rule.decision != "allow"
            for glob in self._globs_of(rule)
        )

    def _rules_of(self, tool: str) -> Iterable[Rule]:
        return (rule for rule in self._rules if not rule.tool or fnmatchcase(tool, rule.tool))

    def _globs_of(self, rule: Rule) -> tuple[str, ...]:
        """Return a rule's glob as an absolute path; for a restricting rule, also the path to which its links lead."""
        if rule not in self._globs:
            written = _absolute(rule.path, self._place, self._user_home)
            led = written if rule.decision == "allow" else _resolve_glob(written)
            self._globs[rule] = tuple(dict.fromkeys((written, led)))
        return self._globs[rule]

    def _fits_path(self, rule: Rule, path: str) -> bool:
        if rule.decision == "allow":
            return any(_compiled(glob).fullmatch(path) for glob in self._globs_of(rule))
        # Denying a folder denies everything in it, however the glob is written.
        parts = path.casefold().split("/")
        above = ["/".join(parts[:end]) or "/" for end in range(1, len(parts) + 1)]
        folded = [_compiled(glob.casefold()) for glob in self._globs_of(rule)]
        return any(each.fullmatch(place) for each in folded for place in above)


def _closure_of(glob: str, *, hides: bool) -> DeniedPath:
    names = glob.rstrip("/").split("/")
    spelled = _literal_prefix_length(names)
    anchor = "/".join(names[:spelled]).casefold() or "/"
    named = "/".join(names) if spelled == len(names) else ""
    return DeniedPath(_compiled(glob.casefold()).pattern, anchor, hides, named)


def _literal_prefix_length(names: Sequence[str]) -> int:
    """Return how many leading path components of a glob contain no wildcards."""
    return next((number for number, name in enumerate(names) if set(name) & GLOB_CHARACTERS), len(names))


def _resolve_glob(glob: str) -> str:
    """Return a glob in which the links in the literal part have been resolved."""
    names = glob.split("/")
    spelled = _literal_prefix_length(names)
    return "/".join((os.path.realpath("/".join(names[:spelled]) or "/").rstrip("/"), *names[spelled:]))


def names_literally(rule: Rule, path: str) -> bool:
    """Return whether a rule names literally what makes a path sensitive; only a rule of the user's own can."""
    if not rule.is_users:
        return False
    spelled = [part.casefold() for part in rule.path.split("/") if not any(sign in part for sign in "*?[")]
    last = re.sub(r"\[[^\]]*\]|[*?]", "", rule.path.rpartition("/")[2])
    if holds_secrets(path) and len(last) < MIN_LITERAL_NAMES:
        return False
    if not is_protected(path):
        return True
    parts = path.casefold().split("/")
    return any(is_protected(f"/{part}") for part in parts if part in spelled)


def _first(rules: Iterable[Rule]) -> Rule | None:
    fitting = list(rules)
    return next((rule for decision in ORDER for rule in fitting if rule.decision == decision), None)


def _base(program: str) -> str:
    return program.rpartition("/")[2]


def _fits_step(rule: Rule, step: "Step") -> bool:
    first, *others = rule.command
    if rule.decision != "allow":
        return step.program == _base(first) and _is_subsequence(others, step.words[1:])
    if step.origin is None or not step.is_plain or step.words[: len(rule.command)] != rule.command:
        return False
    from hermes_acp.policy.shell.command_hazards import find_hazard

    return not find_hazard(step.origin, len(rule.command))


def _is_subsequence(wanted: Sequence[str], words: Sequence[str | None]) -> bool:
    """Return whether some words occur among others in this order, possibly with other words in between."""
    rest = iter(words)
    return all(any(word == one for word in rest) for one in wanted)


def _absolute(glob: str, place: str, user_home: str) -> str:
    if glob == "~" or glob.startswith("~/"):
        return user_home + glob[1:]
    if glob.startswith("/"):
        return glob
    if glob.startswith("**/"):
        return "/" + glob
    return f"{place.rstrip('/')}/{glob}" if "/" in glob.rstrip("/") else f"/**/{glob}"


@lru_cache(maxsize=512)
def _compiled(glob: str) -> re.Pattern[str]:
    """Compile a glob into a pattern for whole paths: `*` stays within one name, `**` spans folders."""
    parts: list[str] = []
    names = glob.rstrip("/").split("/")
    for number, name in enumerate(names):
        is_last = number == len(names) - 1
        if name == "**":
            parts.append(".*" if is_last else "(?:[^/]+/)*")
            continue
        parts.append(_name_pattern(name) + ("" if is_last else "/"))
    return re.compile("".join(parts), re.DOTALL)


def _name_pattern(name: str) -> str:
    pieces = re.split(r"(\*+|\?|\[[^\]/]+\])", name)
    return "".join(_piece_pattern(piece) for piece in pieces)


def _piece_pattern(piece: str) -> str:
    if piece.startswith("*"):
        return "[^/]*"
    if piece == "?":
        return "[^/]"
    if piece.startswith("[") and len(piece) > 2:
        inner = piece[1:-1].replace("\\", "\\\\")
        return f"[^{inner[1:]}]" if inner.startswith(("!", "^")) else f"[{inner}]"
    return re.escape(piece)
