"""Parse the arguments of our commands, and find the selections that they refer to."""

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
from lsprotocol import types
from msgspec import Meta, Struct

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.untrusted_text import plain
from hermes_acp.frontends.lsp import messages
from hermes_acp.frontends.lsp.documents.open_documents import Document, OpenDocuments

SEVERITIES = ("error", "warning", "information", "hint")
MAX_DIAGNOSTICS = 30
Count = Annotated[int, Meta(ge=0)]


class Position(Struct, frozen=True):
    """A line and a column, counted from 0."""

    line: Count
    character: Count


class Range(Struct, frozen=True):
    """A range in a document; its end is exclusive."""

    start: Position
    end: Position


class Diagnostic(Struct, frozen=True):
    """A diagnostic that the editor shows."""

    range: Range
    message: str
    severity: int | None = None
    source: str | None = None

    def shown(self) -> str:
        """Format the diagnostic as one line for the model."""
        known = self.severity is not None and 1 <= self.severity <= len(SEVERITIES)
        severity = SEVERITIES[self.severity - 1] if known and self.severity else "problem"
        source = f" ({plain(self.source, 60)})" if self.source else ""
        return f"line {self.range.start.line + 1}: {severity}: {plain(self.message, 500)}{source}"


class CodeTarget(Struct, frozen=True, rename="camel"):
    """The argument of every command.

    `version` is the document version that the range refers to; `instruction` is the user's own instruction.
    """

    uri: str
    range: Range
    version: int | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    instruction: str = ""


class CodeSelection(Struct, frozen=True):
    """A target with its document; `selected` contains whole lines, and is empty if nothing is selected."""

    document: Document
    target: CodeTarget
    selected: str

    @property
    def has_selection(self) -> bool:
        """Whether the range is more than a cursor position."""
        return self.target.range.start != self.target.range.end

    @property
    def lines(self) -> str:
        """The line numbers as a phrase, counted from 1."""
        first, last = self.target.range.start.line + 1, self._last_line
        return f"line {first}" if first >= last else f"lines {first} to {last}"

    @property
    def _last_line(self) -> int:
        start, end = self.target.range.start, self.target.range.end
        ends_before = end.character == 0 and end.line > start.line
        return end.line if ends_before else end.line + 1


def read_target(arguments: Sequence[Any] | None) -> CodeTarget:
    """Parse a command's arguments. Raises BadRequest."""
    if not arguments or len(arguments) != 1:
        raise BadRequest(messages.ONE_ARGUMENT)
    try:
        return msgspec.convert(arguments[0], CodeTarget)
    except msgspec.ValidationError as error:
        raise BadRequest(messages.invalid_argument(str(error))) from error


def find_selection(target: CodeTarget, documents: OpenDocuments) -> CodeSelection:
    """Find a target in its document. Raises BadRequest if it is not open or not a file."""
    document = documents.get(target.uri)
    if document is None:
        raise BadRequest(messages.not_open(target.uri), hint=messages.NOT_OPEN_HINT)
    if not document.path:
        raise BadRequest(messages.not_a_file(target.uri), hint=messages.NOT_A_FILE_HINT)
    positions = documents.positions(document.text)
    first, last = target.range.start.line, target.range.end.line + (target.range.end.character > 0)
    has_selection = target.range.start != target.range.end
    return CodeSelection(
        document, target, positions.span(first, max(last, first + 1)) if has_selection else ""
    )


def target_of(params: types.CodeActionParams, document: Document) -> CodeTarget:
    """Build the target for a request for code actions."""
    found = tuple(
        Diagnostic(
            range_of(each.range),
            each.message,
            int(each.severity.value) if each.severity else None,
            each.source,
        )
        for each in params.context.diagnostics[:MAX_DIAGNOSTICS]
    )
    return CodeTarget(document.uri, range_of(params.range), document.version, found)


def range_of(given: types.Range) -> Range:
    """Convert a range from the protocol's type."""
    start, end = given.start, given.end
    return Range(Position(start.line, start.character), Position(end.line, end.character))
