"""Bash's grammar: text in, syntax tree out, or the reason why there is none to rely on.

Knows: tree-sitter's bash grammar, and what makes a text too strange to trust any reading of it.
Does not know: what a command means. The grammar forgives mistakes that a shell does not and the other way round, so a
tree counts only where it has no error and no character of the text lies outside of it.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

LONGEST_CHARACTERS: Final = 32_768
DEEPEST: Final = 60
BETWEEN: Final = re.compile(rb"(?:[ \t\n]|\\\n)*")
OPAQUE: Final = frozenset({"string", "heredoc_body", "translated_string"})
BROKEN_LINE: Final = re.compile(r"\\\n")
HARMLESS_BREAK: Final = re.compile(r"(?<![\\])[ \t]\\\n|(?<!\\)\\\n(?=[ \t])")
ENDLESS: Final = re.compile(r"\b(?:while\s+(?:true|:|\[\s*1\s*\])|until\s+false)\s*(?:;|\n|do\b)")
HIDDEN_CATEGORIES: Final = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp", "Zs"})


@cache
def _parser() -> "Parser":
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


def strangeness_of(text: str) -> str:
    """Say what in the text keeps everyone from reading it safely; empty where nothing does."""
    if len(text) > LONGEST_CHARACTERS:
        return f"it is longer than {LONGEST_CHARACTERS:,} characters"
    for character in set(text):
        if character in " \n\t":
            continue
        if unicodedata.category(character) in HIDDEN_CATEGORIES:
            return f"it holds the hidden character U+{ord(character):04X}"
    if ENDLESS.search(text):
        return "it holds a loop without an end"
    if BROKEN_LINE.search(HARMLESS_BREAK.sub(" ", text)):
        return "a line is broken in the middle of a word"
    return ""


def parse(text: str) -> "Node":
    """Give the root of the text's tree, errors and all."""
    return _parser().parse(text.encode("utf-8", "replace")).root_node


def flaw_of(root: "Node", source: bytes) -> str:
    """Say why the tree is no faithful reading of its source; empty where it is one."""
    if root.has_error:
        return "it is not understood as shell"
    end = 0
    for leaf, depth in _leaves(root, 0):
        if depth > DEEPEST:
            return "it is nested too deeply"
        if not BETWEEN.fullmatch(source, end, max(end, leaf.start_byte)):
            return "a part of it is not understood as shell"
        end = max(end, leaf.end_byte)
    if not BETWEEN.fullmatch(source, end):
        return "its end is not understood as shell"
    return ""


def _leaves(node: "Node", depth: int) -> "Iterator[tuple[Node, int]]":
    """Give the tree's tokens in order, and how deep each stands; what lies in quotes counts as one."""
    waiting = [(node, depth)]
    while waiting:
        node, depth = waiting.pop()
        if not node.child_count or node.type in OPAQUE:
            if node.end_byte > node.start_byte:
                yield node, depth
        elif depth > DEEPEST:
            yield node, depth
        else:
            # A list such as `a && b && c` is nested to the left; it is no deeper for being long.
            waiting.extend(
                (child, depth if child.type == node.type == "list" else depth + 1)
                for child in reversed(node.children)
            )
