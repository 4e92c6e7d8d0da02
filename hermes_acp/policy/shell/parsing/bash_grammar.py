"""Parse text with bash's grammar into a syntax tree, or say why no tree can be relied on.

The grammar (tree-sitter's) accepts some mistakes that a shell rejects, and vice versa. A tree is therefore used only if
it contains no error and covers every character of the text.
"""

import re
import unicodedata
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

MAX_CHARS: Final = 32_768
MAX_DEPTH: Final = 60
BETWEEN: Final = re.compile(rb"(?:[ \t\n]|\\\n)*")
LOST_DASH: Final = re.compile(rb"[ \t]+(-)[ \t]*")
UNPARSED_NODES: Final = frozenset({"string", "heredoc_body", "translated_string"})
# Nodes that can directly follow a word without being part of it.
APART: Final = frozenset(
    {"file_redirect", "herestring_redirect", "heredoc_redirect", "heredoc_body", "heredoc_end"}
)
JOINED: Final = frozenset(
    {"concatenation", "string", "translated_string", "expansion", "arithmetic_expansion", "heredoc_body"}
    | {"simple_expansion", "variable_assignment", "subscript", "brace_expression"}
)
BROKEN_LINE: Final = re.compile(r"\\\n")
HARMLESS_BREAK: Final = re.compile(r"(?<![\\])[ \t]\\\n|(?<!\\)\\\n(?=[ \t])")
ENDLESS: Final = re.compile(r"\b(?:while\s+(?:true|:|\[\s*1\s*\])|until\s+false)\s*(?:;|\n|do\b)")
HIDDEN_CATEGORIES: Final = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp", "Zs"})


@cache
def _parser() -> "Parser":
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


def unsupported_syntax(text: str) -> str:
    """Say why the text cannot be parsed safely; return an empty string if it can."""
    if len(text) > MAX_CHARS:
        return f"it is longer than {MAX_CHARS:,} characters"
    for character in set(text):
        if character in " \n\t":
            continue
        if unicodedata.category(character) in HIDDEN_CATEGORIES:
            return f"it contains the hidden character U+{ord(character):04X}"
    if ENDLESS.search(text):
        return "it contains an endless loop"
    if BROKEN_LINE.search(HARMLESS_BREAK.sub(" ", text)):
        return "a line is broken in the middle of a word"
    return ""


def parse(text: str) -> "Node":
    """Return the root of the text's tree, including any errors."""
    return _parser().parse(text.encode("utf-8", "replace")).root_node


def quote_lost_dashes(text: str) -> str:
    """Return the text with quotes around each lone `-` before a here-document, which the grammar omits.

    Only text between a command and its redirection in the tree is quoted, never part of a word.
    """
    source = text.encode("utf-8", "replace")
    waiting, lost = [parse(text)], list[int]()
    while waiting:
        node = waiting.pop()
        waiting += node.children
        for before, after in pairwise(node.children if node.type == "redirected_statement" else ()):
            if found := LOST_DASH.fullmatch(source, before.end_byte, max(before.end_byte, after.start_byte)):
                lost.append(found.start(1))
    for at in sorted(lost, reverse=True):
        source = source[:at] + b"'-'" + source[at + 1 :]
    return source.decode("utf-8", "replace") if lost else text


def syntax_error_of(root: "Node", source: bytes) -> str:
    """Say where the tree misrepresents its source; return an empty string if it does not."""
    if root.has_error:
        return "it cannot be parsed as shell"
    if not BETWEEN.fullmatch(source, 0, root.start_byte) or not BETWEEN.fullmatch(source, root.end_byte):
        return "its end cannot be parsed as shell"
    waiting = [(root, 0)]
    while waiting:
        node, depth = waiting.pop()
        if depth > MAX_DEPTH:
            return "it is nested too deeply"
        if flaw := _flaw_between(node, source) if node.type not in UNPARSED_NODES else "":
            return flaw
        # Lists such as `a && b && c` nest to the left; a long list does not count as deep.
        waiting += ((each, depth + (not each.type == node.type == "list")) for each in node.children)
    return ""


def _flaw_between(node: "Node", source: bytes) -> str:
    """Say which part of a node's text the tree omits, or separates from the word to which bash assigns it."""
    end = node.start_byte
    for child in node.children:
        if not BETWEEN.fullmatch(source, end, max(end, child.start_byte)):
            return "a part of it cannot be parsed as shell"
        end = max(end, child.end_byte)
    if node.children and not BETWEEN.fullmatch(source, end, max(end, node.end_byte)):
        return "a part of it cannot be parsed as shell"
    if node.type in JOINED:
        return ""
    # The grammar omits `$`, `==` and `=~` from a command's words.
    stray = (each for each in node.children if each.type == "$" or node.type == "command")
    if lost := next((each.type for each in stray if not each.is_named), ""):
        return f"where {lost!r} belongs is not clear"
    for before, after in pairwise(node.named_children):
        text = before.text or b""
        # Digits or {name} directly before a redirection denote its stream.
        is_apart = after.type in APART and not (after.children and after.children[0].is_named)
        if before.end_byte == after.start_byte and (not is_apart or text[-1:].isdigit() or text[-1:] == b"}"):
            return f"{text.decode('utf-8', 'replace')[-40:]!r} and the text next to it form one word"
    return ""
