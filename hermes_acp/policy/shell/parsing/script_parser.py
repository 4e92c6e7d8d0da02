"""Parse a whole command line into its simple commands, wherever they occur.

Anything not understood is reported as an obstacle; the commands inside it are still returned.
"""

import re
from typing import TYPE_CHECKING, Final

from msgspec import Struct, structs

from hermes_acp.policy.shell.command_variables import is_script_variable
from hermes_acp.policy.shell.parsing.bash_grammar import (
    MAX_CHARS,
    parse,
    quote_lost_dashes,
    syntax_error_of,
    unsupported_syntax,
)
from hermes_acp.policy.shell.parsing.command_parts import PartsCollector, only_exports
from hermes_acp.policy.shell.parsing.shell_words import Scope, Word, read_word, text_of
from hermes_acp.policy.shell.parsing.simple_command import Command, output_of
from hermes_acp.policy.shell.parsing.statement_context import FoldersAfter, StatementContext, after_cd, union

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_COMMANDS: Final = 4_000
MAX_ROUNDS: Final = 12
UNKNOWN: Final = Word("", None)
SEQUENCES: Final = frozenset(
    {"program", "do_group", "subshell", "if_statement", "elif_clause", "else_clause", "while_statement"}
)
OWN_SHELL: Final = frozenset({"subshell", "pipeline", "command_substitution", "process_substitution"})
EXPANSIONS: Final = frozenset({"simple_expansion", "expansion", "command_substitution"})
SUBSTITUTIONS: Final = frozenset({"command_substitution", "process_substitution"})
PLAIN: Final = ("command", "variable_assignment", "variable_assignments")
SIMPLE: Final = frozenset({*PLAIN, "redirected_statement"})
STRANGE_STATEMENTS: Final = frozenset(
    {"function_definition", "case_statement", "c_style_for_statement", "declaration_command", "unset_command"}
)
READS_LINES: Final = re.compile(r"(?:IFS= )?read (?:-r )?([a-z_]\w*)")
ENDS_WITH_INPUT: Final = re.compile(r"(?:IFS=\S* )?read\b[^<>|;&]*")
WHOLE_TEST: Final = re.compile(r"\[ [^\n]* \]|\[\[ [^\n]* \]\]")
PLAIN_TESTS: Final = (
    frozenset({"-d", "-e", "-f", "-r", "-s", "-w", "-x", "-n", "-z", "-L", "-h"}),
    frozenset({"=", "==", "!="}),
)


class ParsedScript(Struct, frozen=True):
    """The commands in a text, and what could not be understood; `functions` are the names that the text redefines."""

    commands: tuple[Command, ...]
    obstacles: tuple[str, ...] = ()
    functions: tuple[tuple[str, str], ...] = ()


def parse_script(text: str, cwds: tuple[str, ...], home: str) -> ParsedScript:
    """Parse a text whose commands may start in any of `cwds`."""
    if strange := unsupported_syntax(text):
        if len(text) > MAX_CHARS:
            return ParsedScript((), (strange,))
        text = text.replace("\\\n", "")
        text = "".join(
            character if character.isprintable() or character in "\n\t" else " " for character in text
        )
    if "<<" in text:
        text = quote_lost_dashes(text)
    root = parse(text)
    reader = _Reader()
    for why in (strange, syntax_error_of(root, text.encode("utf-8", "replace"))):
        if why:
            reader.obstacle(why)
    if not any("deeply" in why for why in reader.obstacles):
        reader.walk(
            root,
            StatementContext(cwds, Scope({"HOME": home, **({"PWD": cwds[0]} if len(cwds) == 1 else {})})),
        )
    return ParsedScript(
        tuple(reader.commands), tuple(dict.fromkeys(reader.obstacles)), tuple(reader.functions)
    )


class _Reader:
    """Collects the commands in a tree."""

    def __init__(self) -> None:
        self.commands: list[Command] = []
        self.obstacles: list[str] = []
        self.functions: list[tuple[str, str]] = []

    def obstacle(self, why: str) -> None:
        """Record why the text cannot be checked by its commands alone."""
        self.obstacles.append(why)

    def walk(self, node: "Node", place: StatementContext) -> FoldersAfter:
        """Read one statement and everything in it."""
        if len(self.commands) > MAX_COMMANDS:
            self.obstacle(f"it contains more than {MAX_COMMANDS} commands")
            return FoldersAfter(place.cwds, place.cwds)
        kind = node.type
        if kind == "while_statement":
            if not ENDS_WITH_INPUT.fullmatch(text_of(node.named_children[0])):
                self.obstacle("it contains a loop that may not end")
            place = self._output_lines(node, place)
        if kind in SEQUENCES or (kind == "compound_statement" and text_of(node).startswith("{")):
            after = self._sequence(node, place)
        elif kind == "list":
            after = self._list(node, place)
        elif kind == "pipeline":
            after = self._pipeline(node, place)
        elif kind == "negated_command":
            always = self._sequence(node, place).always
            after = FoldersAfter(always, always)
        elif kind == "for_statement":
            after = self._loop(node, place)
        elif kind in SIMPLE or (kind == "declaration_command" and only_exports(node)):
            after = self._simple(node, place)
        elif kind == "test_command":
            after = self._test(node, place)
        elif kind == "comment":
            after = FoldersAfter(place.cwds, place.cwds)
        else:
            after = self._unsupported(node, place)
        return FoldersAfter(place.cwds, place.cwds) if kind in OWN_SHELL else after

    def _sequence(self, node: "Node", place: StatementContext) -> FoldersAfter:
        after = FoldersAfter(place.cwds, place.cwds)
        seen = place.cwds
        for child in node.named_children:
            after = self.walk(child, place.at(seen))
            may_be_skipped = node.type in ("if_statement", "while_statement", "elif_clause")
            seen = union(seen, after.always) if may_be_skipped else after.always
        return FoldersAfter(union(after.success, seen) if node.type != "program" else after.success, seen)

    def _list(self, node: "Node", place: StatementContext) -> FoldersAfter:
        """Read a list such as `a && b; c`, which the grammar nests to the left, with one level per command."""
        links: list[Node] = []
        while node.type == "list":
            links.append(node)
            node = node.named_children[0]
        before = self.walk(node, place)
        for link in reversed(links):
            is_and = any(child.type == "&&" for child in link.children)
            for child in link.named_children[1:]:
                after = self.walk(child, place.at(before.success if is_and else before.always))
                always = union(before.always, after.always)
                before = FoldersAfter(
                    after.success if is_and else union(before.success, after.success), always
                )
        return before

    def _pipeline(self, node: "Node", place: StatementContext) -> FoldersAfter:
        feed = place.feed
        is_piped = place.is_piped
        source = None
        for child in node.named_children:
            before = len(self.commands)
            self.walk(child, structs.replace(place, is_piped=is_piped, feed=feed, source=source))
            added = self.commands[before:]
            source = added[0] if len(added) == 1 else None
            feed = output_of(source) if source else None
            is_piped = True
        return FoldersAfter(place.cwds, place.cwds)

    def _loop(self, node: "Node", place: StatementContext) -> FoldersAfter:
        if node.children[0].type != "for":
            return self._unsupported(node, place)
        variable = node.child_by_field_name("variable")
        body = node.child_by_field_name("body")
        words = [read_word(value, place.scope) for value in node.children_by_field_name("value")]
        tellers = [self._substitutions(value, place) for value in node.children_by_field_name("value")]
        self._note_unknown_words(words)
        if variable is None or body is None:
            return self._unsupported(node, place)
        name = text_of(variable)
        is_known = all(word.text is not None for word in words) and len(words) <= MAX_ROUNDS
        is_steady = not _assigns(body, name)
        told = {**place.told, name: tellers[0]} if is_steady and len(tellers) == 1 and tellers[0] else {}
        after = FoldersAfter(place.cwds, place.cwds)
        for word in words if is_known and words and is_steady else [UNKNOWN]:
            scope = place.scope.bound(name, word.text, is_pattern=word.globs)
            cwds = union(place.cwds, after.always)
            after = self.walk(body, StatementContext(cwds, scope, in_word=place.in_word, told=told))
        if not is_script_variable(name):
            self.obstacle(f"{name} may control other programs")
        always = union(place.cwds, after.always)
        return FoldersAfter(always, always)

    def _test(self, node: "Node", place: StatementContext) -> FoldersAfter:
        """Accept a plain test of files and words; other tests can run whatever a variable contains."""
        is_whole = node.named_child_count == 1 and WHOLE_TEST.fullmatch(text_of(node))
        inner = node.named_children[0] if is_whole else None
        if inner is None or inner.type not in ("unary_expression", "binary_expression"):
            return self._unsupported(node, place)
        tested = list(inner.children)
        operator = tested.pop(len(tested) - 2)
        is_plain = len(tested) in (1, 2) and text_of(operator) in PLAIN_TESTS[len(tested) - 1]
        words = [read_word(child, place.scope) for child in tested]
        # An unquoted, unknown value may become several words for `[`, including operators.
        whole = {"string"} if text_of(node).startswith("[ ") else {"string", *EXPANSIONS}
        unclear = [
            word
            for child, word in zip(tested, words, strict=True)
            if word.oddity or (word.text is None and child.type not in whole)
        ]
        if not is_plain or unclear:
            return self._unsupported(node, place)
        for child in tested:
            self._substitutions(child, place)
        return FoldersAfter(place.cwds, place.cwds)

    def _unsupported(self, node: "Node", place: StatementContext) -> FoldersAfter:
        """Report an unknown construct, but keep parsing inside it, so that forbidden commands are still found."""
        if node.type == "function_definition":
            name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
            self.functions.append((text_of(name) if name else "", text_of(body) if body else ""))
        words = node.type.replace("_", " ") if node.type in STRANGE_STATEMENTS else repr(text_of(node)[:40])
        self.obstacle(f"the effects of {words} are not known")
        for child in node.named_children:
            self._statements_in(child, place)
        return FoldersAfter(place.cwds, place.cwds)

    def _statements_in(self, node: "Node", place: StatementContext) -> None:
        if node.type in ("command", "redirected_statement", "pipeline", "list", "for_statement", *SEQUENCES):
            self.walk(node, place)
            return
        for child in node.named_children:
            self._statements_in(child, place)

    def _output_lines(self, node: "Node", place: StatementContext) -> StatementContext:
        """Record which variable contains a line of the output piped into a loop."""
        head, body = node.named_children[0], node.named_children[-1]
        reads = READS_LINES.fullmatch(text_of(head))
        if reads is None or place.source is None or _assigns(body, reads[1]):
            return structs.replace(place, told={})
        return structs.replace(place, told={**place.told, reads[1]: place.source})

    def _substitutions(self, node: "Node", place: StatementContext) -> Command | None:
        """Read the commands whose output or file name becomes part of a word.

        Returns the command that makes up the whole word, if there is one.
        """
        before = len(self.commands)
        self._substitutions_in(node, place)
        whole = node.named_children[0] if node.type == "string" and node.named_child_count == 1 else node
        is_whole = whole.type == "command_substitution" and whole.named_child_count == 1
        last = whole.named_children[0] if is_whole else None
        while last is not None and last.type in ("pipeline", "redirected_statement"):
            last = last.named_children[-1 if last.type == "pipeline" else 0]
        is_one = last is not None and last.type == "command"
        return self.commands[-1] if is_one and len(self.commands) > before else None

    def _substitutions_in(self, node: "Node", place: StatementContext) -> None:
        for child in node.named_children if node.type not in SUBSTITUTIONS else (node,):
            if child.type in SUBSTITUTIONS:
                in_word = place.in_word or child.type == "command_substitution"
                inner = StatementContext(place.cwds, place.scope, in_word=in_word)
                for statement in child.named_children:
                    inner = inner.at(self.walk(statement, inner).always)
            elif child.named_child_count:
                self._substitutions_in(child, place)

    def _note_unknown_words(self, words: list[Word]) -> None:
        for word in words:
            if word.oddity:
                self.obstacle(word.oddity)

    def _simple(self, node: "Node", place: StatementContext) -> FoldersAfter:
        body = node.child_by_field_name("body") if node.type == "redirected_statement" else node
        gatherer = PartsCollector(place.scope)
        after = FoldersAfter(place.cwds, place.cwds)
        is_plain = body is not None and body.type in (*PLAIN, "declaration_command")
        if body is not None and is_plain:
            gatherer.take(body)
        for part in node.named_children if node.type == "redirected_statement" else ():
            if part.type.endswith("redirect"):
                gatherer.take(part)
        if body is not None and body.type in ("list", "pipeline", "negated_command"):
            self.obstacle("it is not clear which of its commands a here-document belongs to")
        if body is not None and not is_plain:
            feed = place.feed if gatherer.feed is None else gatherer.feed
            after = self.walk(body, structs.replace(place, feed=feed, source=None))
        tellers = {text_of(part): self._substitutions(part, place) for part in gatherer.parts}
        self._note_unknown_words(gatherer.words)
        for why in gatherer.obstacles:
            self.obstacle(why)
        for statement in gatherer.statements:
            self.walk(
                statement, StatementContext(place.cwds, place.scope, is_piped=True, in_word=place.in_word)
            )
        name, args = (gatherer.words[0], gatherer.words[1:]) if gatherer.words else (None, [])
        command = Command(
            name,
            tuple(args),
            tuple(gatherer.assignments),
            tuple(gatherer.redirects),
            place.cwds,
            place.is_piped,
            place.feed if gatherer.feed is None else gatherer.feed,
            place.source if gatherer.feed is None and not gatherer.redirects else None,
            place.in_word,
            place.source_of(args[-1], tellers) if args else None,
        )
        if name or gatherer.assignments or gatherer.redirects:
            self.commands.append(command)
        return after_cd(command) if command.program == "cd" else after


def _assigns(node: "Node", name: str) -> bool:
    if node.type in ("variable_assignment", "for_statement"):
        target = node.child_by_field_name("name") or node.child_by_field_name("variable")
        if target is not None and text_of(target).startswith(name):
            return True
    is_read = node.type == "command" and "read" in text_of(node)
    return is_read or any(_assigns(child, name) for child in node.named_children)
