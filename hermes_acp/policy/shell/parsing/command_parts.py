"""The parts of one simple command: its words, variables, redirections and input."""

import re
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from hermes_acp.policy.shell.parsing.shell_words import Scope, Word, read_word, read_words, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

DOCUMENT: Final = re.compile(r"<<\s?(['\"]?)([A-Za-z_][A-Za-z0-9_]*)\1(?: *\|(?!&)([^<>|&;'\"\\`$]*))?")


class Redirect(Struct, frozen=True):
    """The target of one stream; `target` is None if the stream only joins another."""

    operator: str
    target: Word | None


class PartsCollector:
    """Collects the parts of one simple command."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self.words: list[Word] = []
        self.assignments: list[tuple[str, str | None]] = []
        self.redirects: list[Redirect] = []
        self.parts: list[Node] = []
        self.statements: list[Node] = []
        self.obstacles: list[str] = []
        self.feed: str | None = None

    def take(self, node: "Node") -> None:
        """Collect one part, or all parts of a command."""
        match node.type:
            case "command":
                for child in node.named_children:
                    self.take(child)
            case "variable_assignment":
                self.parts.append(node)
                self.assignments.append(self._assignment(node))
            case "declaration_command":
                self.words.append(Word("export", "export"))
                for child in node.named_children:
                    self.take(child)
            case "variable_assignments":
                for child in node.named_children:
                    self.take(child)
            case "file_redirect":
                self._redirect(node)
            case "heredoc_redirect":
                self._heredoc(node)
            case "herestring_redirect":
                self.parts.append(node)
                word = read_word(node.named_children[-1], self._scope)
                self.feed = word.text or ""
                if word.oddity:
                    self.obstacles.append(word.oddity)
            case "comment" | "file_descriptor":
                pass
            case _:
                self.parts.append(node)
                self.words += read_words(node, self._scope)

    def _assignment(self, node: "Node") -> tuple[str, str | None]:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if "+=" in text_of(node)[:80] or name is None or name.type != "variable_name":
            return (text_of(node).split("=")[0], None)
        if value is None:
            return (text_of(name), "")
        word = read_word(value, self._scope)
        if word.oddity:
            self.obstacles.append(word.oddity)
        return (text_of(name), word.text)

    def _redirect(self, node: "Node") -> None:
        self.parts.append(node)
        operator = next((child.type for child in node.children if not child.is_named), "?")
        targets = node.children_by_field_name("destination")
        words = [read_word(target, self._scope) for target in targets]
        joins = operator in (">&", "<&") and bool(words) and (words[0].text or "?").rstrip("-").isdigit()
        # Unless it is a number, bash expands whatever follows >& once more, even if quoted, and may run commands in it.
        if len(words) > 1 or (words and operator[-2:] in ("&-", ">&", "<&") and not joins):
            self.obstacles.append("it is not clear where its output goes")
        for word in words[:1]:
            if word.oddity:
                self.obstacles.append(word.oddity)
        self.redirects.append(Redirect(operator, None if joins or not words else words[0]))
        self.words += words[1:]

    def _heredoc(self, node: "Node") -> None:
        piped = " ".join(text_of(child) for child in node.named_children if child.type == "pipeline")
        if self.feed is not None or not _is_plain_document(text_of(node), piped):
            self.obstacles.append("it contains a here-document whose text is not known")
        bodies = [child for child in node.named_children if child.type == "heredoc_body"]
        self.feed = "".join(text_of(body) for body in bodies)
        self.parts += bodies
        for child in node.named_children:
            if child.type in ("file_redirect", "herestring_redirect"):
                self.take(child)
            elif child.type in ("pipeline", "command", "list", "redirected_statement"):
                self.statements.append(child)
            elif not child.type.startswith("heredoc") and child.type != "file_descriptor":
                self.words.append(read_word(child, self._scope))


def only_exports(node: "Node") -> bool:
    """Return whether a declaration only sets variables for the programs that follow."""
    first, *rest = node.children
    return first.type == "export" and bool(rest) and all(each.type == "variable_assignment" for each in rest)


def _is_plain_document(text: str, piped: str) -> bool:
    """Return whether a here-document is plain text, going by its lines alone.

    It may be `piped` to one command if all words of that command are known.
    """
    first, *lines = text.split("\n")
    begun = DOCUMENT.fullmatch(first)
    if begun is None or (begun[3] or "").strip() != piped.lstrip("| ").strip():
        return False
    if begun[2] not in lines or lines.index(begun[2]) != len(lines) - 1:
        return False
    return bool(begun[1]) or not re.search(r"[$`\\]", text)
