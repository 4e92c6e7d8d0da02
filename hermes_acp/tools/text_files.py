"""Decode text files, preserving their encoding and line endings, and encode them the same way."""

import difflib
import os

from msgspec import Struct

from hermes_acp.core.errors import FileTooLarge, WorkspaceError
from hermes_acp.core.ports.workspace_ports import Files
from hermes_acp.tools.charset_detection import guess_encoding

PROBED_BYTES = 8192
_MARKS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\0\0", "utf-32-le"),
    (b"\0\0\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_KINDS = (
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive (or a document made of one)"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\x7fELF", "an ELF program or library"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"\xca\xfe\xba\xbe", "a compiled class or Mach-O file"),
)
_TEXT_CONTROLS = frozenset(b"\t\n\r\f\b\x1b")


class TextFile(Struct, frozen=True):
    """A file's text with its original line endings; `mark` is its byte-order mark, which is not in the text."""

    text: str
    encoding: str = "utf-8"
    mark: bytes = b""

    @property
    def newline(self) -> str:
        """Return the most frequent line ending."""
        if "\r" not in self.text:
            return "\n"
        return "\r\n" if 2 * self.text.count("\r\n") > self.text.count("\n") else "\n"

    def encode(self, text: str, path: str) -> bytes:
        """Encode a string like this file. Raises WorkspaceError for characters that its encoding lacks."""
        try:
            return self.mark + text.encode(self.encoding)
        except UnicodeEncodeError as error:
            raise WorkspaceError(
                f"{path} is encoded in {self.encoding}, which has no {text[error.start]!r}.",
                hint="Use other characters, or convert the file to UTF-8 first.",
            ) from error


def decode(content: bytes, path: str) -> TextFile:
    """Decode bytes as text. Raises WorkspaceError with the size and kind if they are not text."""
    mark, encoding = byte_order_mark(content)
    if mark:
        try:
            return TextFile(content[len(mark) :].decode(encoding), encoding, mark)
        except UnicodeDecodeError as error:
            raise binary_file_error(content, len(content), path) from error
    if b"\0" in content[:PROBED_BYTES]:
        raise binary_file_error(content, len(content), path)
    try:
        return TextFile(content.decode())
    except UnicodeDecodeError:
        return _decode_code_page(content, path)


def _decode_code_page(content: bytes, path: str) -> TextFile:
    if has_binary_controls(content):
        raise binary_file_error(content, len(content), path)
    encoding, text = guess_encoding(content)
    return TextFile(text, encoding)


def byte_order_mark(content: bytes) -> tuple[bytes, str]:
    """Return the byte-order mark at the start of the content, if any, and the encoding that it declares, or UTF-8."""
    return next(((mark, encoding) for mark, encoding in _MARKS if content.startswith(mark)), (b"", "utf-8"))


def has_binary_controls(content: bytes) -> bool:
    """Return whether content that is not UTF-8 starts like a binary file rather than text in a code page."""
    probe = content[:PROBED_BYTES]
    return any(byte < 0x20 and byte not in _TEXT_CONTROLS for byte in probe) or probe.startswith(_KINDS[1][0])


def binary_file_error(content: bytes, size_bytes: int, path: str) -> WorkspaceError:
    """Return the error for a file that is not text, given its first bytes."""
    return WorkspaceError(
        f"{path} is {kind_of_binary(content)} of {size_bytes:,} bytes, not text.",
        hint="Inspect it with a command for this kind of file.",
    )


def kind_of_binary(content: bytes) -> str:
    """Return the kind of binary content, judging by its first bytes."""
    return next((kind for magic, kind in _KINDS if content.startswith(magic)), "a binary file")


async def read_content(workspace: Files, path: str, *, to_change: bool = False) -> bytes:
    """Return the bytes of a file that must exist. Raises WorkspaceError that says what exists instead."""
    content = await read_if_present(workspace, path, to_change=to_change)
    if content is None:
        raise WorkspaceError(f"There is no file {path}.", hint=await _name_alikes(workspace, path))
    return content


async def read_if_present(workspace: Files, path: str, *, to_change: bool = False) -> bytes | None:
    """Return a file's bytes, or None if it is missing; with `to_change`, unsaved changes are taken into account.

    Raises WorkspaceError; for a folder, the error names the tool that lists it.
    """
    try:
        return await workspace.read(path, for_edit=to_change)
    except FileTooLarge:
        raise
    except WorkspaceError as trouble:
        if not await _is_folder(workspace, path):
            raise
        raise WorkspaceError(f"{path} is a folder.", hint="Use list_files to see what is in it.") from trouble


async def _is_folder(workspace: Files, path: str) -> bool:
    try:
        await workspace.entries(path)
    except WorkspaceError:
        return False
    return True


async def _name_alikes(workspace: Files, path: str) -> str:
    folder, name = os.path.split(path)
    try:
        names = [entry.name.rstrip("/") for entry in await workspace.entries(workspace.locate(folder))]
    except WorkspaceError:
        return f"The folder {folder} does not exist either; use list_files to look around."
    by_lower = {each.lower(): each for each in names}
    alikes = [by_lower[each] for each in difflib.get_close_matches(name.lower(), by_lower, n=3)]
    if alikes:
        return f"Similar names in {folder}: {', '.join(alikes)}."
    return f"Nothing in {folder} has a similar name; use list_files or search to find it."
