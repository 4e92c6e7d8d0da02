"""Evaluate a word of a command: its value after quote removal, if that can be determined."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from hermes_acp.telemetry.redaction import SECRET_NAME

if TYPE_CHECKING:
    from tree_sitter import Node

PLAIN_NAME: Final = re.compile(r"\$\{?([A-Za-z_][A-Za-z0-9_]*)\}?")
HARMLESS_SPECIAL: Final = re.compile(r"\$\{?[?#$!0-9]\}?")
PLAIN_CUT: Final = re.compile(
    r"\$\{(?:#([A-Za-z_][A-Za-z0-9_]*)|([A-Za-z_][A-Za-z0-9_]*)(?::\d+(?::\d+)?|(?:##?|%%?)[\w.*/-]*|:?-[\w./-]*|\^\^?|,,?))\}"
)
PLAIN_SUM: Final = re.compile(r"\$\(\([0-9+\-*/%() \t]*\)\)")
ONE_WORD: Final = re.compile(r"[^\s\\]+")
LIVE_DOLLAR: Final = re.compile(r"\$(?=[A-Za-z0-9_({\[@*#?$!'\"-])|`")
UNQUOTED_SYNTAX: Final = re.compile(r"[;|&<>()\s'\"`]")
BRACES: Final = re.compile(r"\{.*(?:,|\.\.|\{)", re.DOTALL)
LATE_TILDE: Final = re.compile(r"[=:]~")
# The parts of $'…' that every locale reads as the same ASCII character.
ANSI: Final = re.compile(
    r"(?:[^\\\0]|\\(?:[abeEfnrtv\\'\"?]|x[0-7]?[0-9a-fA-F](?![0-9a-fA-F])|[01]?[0-7]{1,2}(?![0-7])))*"
)
ANSI_ESCAPE: Final = re.compile(r"\\(?:x([0-9a-fA-F]+)|([0-7]+)|(.))")
ANSI_LETTERS: Final = str.maketrans("abeEfnrtv", "\a\b\x1b\x1b\f\n\r\t\v")
PLAIN_PATTERN: Final = re.compile(r"[\w./*?][\w./*?-]*")
LISTED: Final = re.compile(r"\{([\w./*-]*(?:,[\w./*-]*)+)\}")
PLAIN_LISTS: Final = re.compile(r"(?:[\w./*-]|\{[\w./*-]*(?:,[\w./*-]*)+\})+")
COUNTED: Final = re.compile(r"\{-?\d{1,4}\.\.-?\d{1,4}\}")
PRESENT_FOLDER: Final = frozenset({"$(pwd)", "`pwd`"})
# These print an object name or nothing; given a path, `git rev-parse` would print the path.
NAMES_OBJECT: Final = re.compile(
    r"\$\(git (?:merge-base [A-Za-z][\w./-]* [A-Za-z][\w./-]*|rev-parse (?:--short |--verify )?HEAD[~^0-9]*)\)"
)
SOME_OBJECT: Final = "0" * 40
MAX_LISTED: Final = 32
DOUBLE_QUOTED_ESCAPE: Final = re.compile(r'\\([$`"\\\n])')


class Word(Struct, frozen=True):
    """A word as written and, if it can be determined, the value that the program will get.

    `globs` means that file names may replace the word. `oddity` says why even a program that accepts any word must not
    get this one without approval. `revision` is how git would read an unknown word, with a made-up object name in it.
    """

    raw: str
    text: str | None
    globs: bool = False
    oddity: str = ""
    revision: str = ""

    @property
    def is_plain(self) -> bool:
        """Whether the word is written literally, without quotes or expansions."""
        return self.raw == self.text and not self.globs


class _Piece(Struct, frozen=True):
    text: str | None
    is_quoted: bool = False
    oddity: str = ""
    names_object: bool = False


class Scope(Struct, frozen=True):
    """The variables with known values; a variable in `patterns` contains the name of a file that matches its value."""

    values: Mapping[str, str]
    patterns: frozenset[str] = frozenset()

    def bound(self, name: str, value: str | None, *, is_pattern: bool = False) -> "Scope":
        """Return the scope with one variable changed or removed."""
        if is_pattern and not PLAIN_PATTERN.fullmatch(value or ""):
            value = None
        rest = {key: kept for key, kept in self.values.items() if key != name}
        patterns = self.patterns - {name} | ({name} if is_pattern else frozenset[str]())
        return Scope(rest if value is None else {**rest, name: value}, patterns)


def read_word(node: "Node", scope: Scope) -> Word:
    """Evaluate a word in the tree."""
    raw = text_of(node)
    if node.type == "process_substitution" and raw.startswith("<("):
        return Word(raw, "/dev/stdin")  # a pipe from commands that are checked on their own
    pieces = _pieces(node, scope)
    oddity = next((piece.oddity for piece in pieces if piece.oddity), "")
    if oddity or any(piece.text is None for piece in pieces):
        is_clear = all(piece.text is not None or piece.names_object for piece in pieces)
        spelled = "".join(SOME_OBJECT if piece.text is None else piece.text for piece in pieces)
        return Word(raw, None, oddity=oddity, revision=spelled if is_clear else "")
    bare = "".join("_" * len(piece.text or "") if piece.is_quoted else piece.text or "" for piece in pieces)
    text = "".join(piece.text or "" for piece in pieces)
    if BRACES.search(bare):
        return Word(raw, None, oddity="brace expansion makes several words of one")
    if LATE_TILDE.search(bare):
        return Word(raw, None, oddity="a ~ in the middle of a word may become a folder")
    if bare.startswith("~"):
        home = scope.values.get("HOME")
        if not raw.startswith("~/") and raw != "~":
            return Word(raw, None, oddity=f"{raw[:40]} names a folder that is not known")
        text = None if home is None else home + text[1:]
    globs = any(character in bare for character in "*?[")
    if globs and _hides_pattern(pieces):
        return Word(raw, None)
    return Word(raw, text, globs=globs)


def _hides_pattern(pieces: list[_Piece]) -> bool:
    """Return whether quotes make part of a pattern literal in a way that the unquoted text would not show."""
    meaningful = frozenset("*?[]\\")
    for piece in pieces:
        text = piece.text or ""
        if piece.is_quoted and not meaningful.isdisjoint(text):
            return True
        if not piece.is_quoted and "[" in text:
            meaningful |= frozenset("-!^")
    return False


def read_words(node: "Node", scope: Scope) -> list[Word]:
    """Evaluate a word in the tree that may expand to several, such as `src/{a,b}.py`."""
    raw = text_of(node)
    if COUNTED.fullmatch(raw):
        return [Word(raw, None)]
    if "{" not in raw or not PLAIN_LISTS.fullmatch(raw):
        return [read_word(node, scope)]
    texts = [raw]
    while (listed := LISTED.search(texts[0])) and len(texts) <= MAX_LISTED:
        texts = [
            found.string[: found.start()] + choice + found.string[found.end() :]
            for text in texts
            if (found := LISTED.search(text))
            for choice in listed[1].split(",")
        ]
    if listed or not all(texts):
        return [read_word(node, scope)]
    return [Word(raw, text, globs="*" in text) for text in texts]


def text_of(node: "Node") -> str:
    """Return a node's source text."""
    return (node.text or b"").decode("utf-8", "replace")


def _pieces(node: "Node", scope: Scope) -> list[_Piece]:
    raw = text_of(node)
    match node.type:
        case "word" | "number" | "variable_name" | "special_variable_name" | "test_operator" | "regex":
            return _bare(raw)
        case "command_name":
            return _pieces(node.children[0], scope) if node.child_count == 1 else [_unknown_piece(raw)]
        case "raw_string":
            return [_Piece(raw[1:-1], is_quoted=True)]
        case "ansi_c_string":
            return [_Piece(_decode_ansi(raw[2:-1]), is_quoted=True)]
        case "string":
            return _double_quoted(node, scope)
        case "concatenation":
            return _concatenated(node, scope)
        case "simple_expansion" | "expansion":
            return [_expansion(raw, scope, is_quoted=False)]
        case "command_substitution" if raw in PRESENT_FOLDER:
            folder = scope.values.get("PWD")
            return [_Piece(folder if folder and not re.search(r"[\s*?\[]", folder) else None, is_quoted=True)]
        case "command_substitution" if raw.lstrip().startswith("$("):
            return [_Piece(None, names_object=bool(NAMES_OBJECT.fullmatch(raw)))]
        case "command_substitution" | "process_substitution":
            # Within backquotes, a backslash may quote nothing, so the shell may run something other than what the
            # grammar reads.
            return [_Piece(None, oddity=f"the value of {raw[:40]} is known only when it runs")]
        case "arithmetic_expansion":
            return [
                _Piece(None)
                if PLAIN_SUM.fullmatch(raw)
                else _Piece(None, oddity="it does arithmetic with variables")
            ]
        case _:
            return [_unknown_piece(raw)]


def _unknown_piece(raw: str) -> _Piece:
    return _Piece(None, oddity=f"{raw[:40]!r} is not understood")


def _bare(raw: str) -> list[_Piece]:
    """Evaluate unquoted text, in which a backslash quotes the next character or joins lines."""
    pieces: list[_Piece] = []
    for part in re.split(r"(\\.)", raw.replace("\\\n", ""), flags=re.DOTALL):
        if part.startswith("\\") and len(part) == 2:
            pieces.append(_Piece(part[1], is_quoted=True))
        elif LIVE_DOLLAR.search(part) or UNQUOTED_SYNTAX.search(part):
            return [_unknown_piece(raw)]
        elif part:
            pieces.append(_Piece(part))
    return pieces


def _concatenated(node: "Node", scope: Scope) -> list[_Piece]:
    pieces: list[_Piece] = []
    end = node.start_byte
    for child in node.children:
        if child.start_byte != end:
            return [_unknown_piece(text_of(node))]
        end = child.end_byte
        pieces += _pieces(child, scope)
    return pieces


def _double_quoted(node: "Node", scope: Scope) -> list[_Piece]:
    source, begin = node.text or b"", node.start_byte
    pieces: list[_Piece] = []
    at = 1
    for child in node.named_children:
        if child.type == "string_content":
            continue
        pieces.append(_quoted_literal(source[at : child.start_byte - begin]))
        at = child.end_byte - begin
        if child.type in ("simple_expansion", "expansion"):
            # The grammar counts blanks before an expansion as part of it.
            expansion = text_of(child).lstrip()
            pieces.append(_Piece(text_of(child).removesuffix(expansion), is_quoted=True))
            pieces.append(_expansion(expansion, scope, is_quoted=True))
        else:
            pieces += _pieces(child, scope)
    pieces.append(_quoted_literal(source[at:-1]))
    return pieces


def _quoted_literal(source: bytes) -> _Piece:
    raw = source.decode("utf-8", "replace")
    bare = DOUBLE_QUOTED_ESCAPE.sub("", raw)
    if LIVE_DOLLAR.search(bare) or '"' in bare:
        return _unknown_piece(raw)
    return _Piece(DOUBLE_QUOTED_ESCAPE.sub(lambda m: "" if m[1] == "\n" else m[1], raw), is_quoted=True)


def _expansion(raw: str, scope: Scope, *, is_quoted: bool) -> _Piece:
    if HARMLESS_SPECIAL.fullmatch(raw):
        return _Piece(None)
    cut = PLAIN_CUT.fullmatch(raw)
    if cut and not SECRET_NAME.compiled.search(cut[1] or cut[2]):
        return _Piece(None)
    named = PLAIN_NAME.fullmatch(raw)
    if not named or raw.startswith("${") != raw.endswith("}"):
        return _Piece(None, oddity=f"{raw[:40]} may run or change more than it shows")
    value = scope.values.get(named[1])
    if value is None and SECRET_NAME.compiled.search(named[1]):
        return _Piece(None, oddity=f"{raw[:40]} is secret by its name")
    if named[1] in scope.patterns:
        # An unquoted file name may become several words.
        return _Piece(value if is_quoted else None)
    if value is None or not (is_quoted or ONE_WORD.fullmatch(value)):
        return _Piece(None)
    return _Piece(value, is_quoted=is_quoted)


def _decode_ansi(raw: str) -> str | None:
    """Decode the content of $'…'; return None if it contains an escape that is not plain."""

    def decode(found: re.Match[str]) -> str:
        code = int(found[1], 16) if found[1] else int(found[2], 8) if found[2] else 0
        return found[3].translate(ANSI_LETTERS) if found[3] else chr(code)

    text = ANSI_ESCAPE.sub(decode, raw) if ANSI.fullmatch(raw) else "\0"
    return None if "\0" in text else text
