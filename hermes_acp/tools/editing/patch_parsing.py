"""Parse patches as models write them.

Source: the grammar of the apply_patch tool as published with its models; the man page of git-diff,
"Generating patch text with -p".
"""

import re
from collections.abc import Sequence
from typing import Final, Literal

from msgspec import Struct

from hermes_acp.core.errors import BadRequest

BEGIN: Final = "*** Begin Patch"
END: Final = "*** End Patch"
_ADD: Final = "*** Add File: "
_DELETE: Final = "*** Delete File: "
_UPDATE: Final = "*** Update File: "
_MOVE: Final = "*** Move to: "
_END_OF_FILE: Final = "*** End of File"
_RANGE: Final = re.compile(r"@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@")
_HOW: Final = "Send the whole patch again: from *** Begin Patch to *** End Patch, or as a unified diff."
Mark = Literal[" ", "-", "+"]


class Hunk(Struct):
    """Context, removed and added lines in order, and hints for locating them.

    `headings` are lines above the hunk, `near` is the number of its first line, `is_at_end` says that it ends the file.
    `ends_in_newline` says whether the new file ends in a newline, if the patch specifies it.
    """

    lines: list[tuple[Mark, str]]
    headings: tuple[str, ...] = ()
    near: int | None = None
    is_at_end: bool = False
    ends_in_newline: bool | None = None


class FilePatch(Struct):
    """The change to one file: hunks for an existing file, lines of a new file, a new name, or a deletion."""

    action: Literal["add", "update", "delete"]
    path: str
    moved_to: str = ""
    hunks: list[Hunk] = []


def read_patch(text: str) -> list[FilePatch]:
    """Parse a patch in either format. Raises BadRequest for an invalid or truncated patch."""
    lines = text.replace("\r\n", "\n").strip("\n").split("\n")
    begin = next((number for number, line in enumerate(lines) if line.strip() == BEGIN), None)
    files = _read_unified(lines) if begin is None else _read_envelope(lines[begin + 1 :])
    if not files:
        raise BadRequest("The patch does not contain any files.", hint=_HOW)
    return files


def _read_envelope(lines: Sequence[str]) -> list[FilePatch]:
    files: list[FilePatch] = []
    for number, line in enumerate(lines, 2):
        if line.strip() == END:
            return files
        if line.startswith((_ADD, _DELETE, _UPDATE)):
            files.append(_begin_file(line))
        elif line.startswith(_MOVE) and files and files[-1].action == "update" and not files[-1].hunks:
            files[-1].moved_to = line.removeprefix(_MOVE).strip()
        elif files:
            _take_line(files[-1], line, number)
        elif line.strip():
            raise BadRequest(
                f"Line {number} of the patch does not belong to a file: {line[:80]!r}.", hint=_HOW
            )
    raise BadRequest(f"The patch is cut off: there is no {END}.", hint=_HOW)


def _begin_file(line: str) -> FilePatch:
    head, _, path = line.partition(": ")
    if head.startswith("*** Add"):
        return FilePatch("add", path.strip(), hunks=[Hunk([], ends_in_newline=True)])
    return FilePatch("delete" if head.startswith("*** Delete") else "update", path.strip())


def _take_line(file: FilePatch, line: str, number: int) -> None:
    """Process a line of a file's section."""
    if file.action == "delete":
        if line.strip():
            raise BadRequest(f"Line {number} of the patch follows a file that is deleted.", hint=_HOW)
        return
    if file.action == "add":
        if not line.startswith("+") and line.strip():
            raise BadRequest(
                f"Line {number} of the patch belongs to a new file but does not start with +.", hint=_HOW
            )
        if line.startswith("+"):
            file.hunks[0].lines.append(("+", line[1:]))
        return
    if line.strip() == _END_OF_FILE:
        if file.hunks:
            file.hunks[-1].is_at_end = True
    elif line.startswith("@@"):
        _begin_hunk(file, line)
    else:
        if not file.hunks:
            file.hunks.append(Hunk([]))
        _add_line(file.hunks[-1], line, number)


def _begin_hunk(file: FilePatch, line: str) -> None:
    """Start a hunk; consecutive headings narrow down its position."""
    ranged = _RANGE.match(line)
    heading = "" if ranged else line.removeprefix("@@").removesuffix("@@").strip()
    if file.hunks and not file.hunks[-1].lines:
        last = file.hunks[-1]
        last.headings = (*last.headings, heading) if heading else last.headings
        return
    near = int(ranged[1]) if ranged else None
    file.hunks.append(Hunk([], (heading,) if heading else (), near))


def _add_line(hunk: Hunk, line: str, number: int) -> None:
    if line.startswith("\\"):
        hunk.ends_in_newline = not (hunk.lines and hunk.lines[-1][0] in "+ ")
        return
    mark = line[:1] or " "
    if mark == " " or mark == "-" or mark == "+":
        hunk.lines.append((mark, line[1:]))
        return
    raise BadRequest(
        f"Line {number} of the patch does not start with a space, - or +: {line[:80]!r}.",
        hint="Put a space before lines that stay unchanged.",
    )


def _read_unified(lines: Sequence[str]) -> list[FilePatch]:
    files: list[FilePatch] = []
    named_at = -1
    file: FilePatch | None = None
    for number, line in enumerate(lines):
        if line.startswith("diff --git "):
            file = FilePatch("update", _names_of(line))
            files.append(file)
        elif _names_a_file(lines, number, is_in_hunk=bool(file and file.hunks)):
            named_at = number + 1
        elif number == named_at:
            file = _named(files, file, _name(lines[number - 1][4:]), _name(line[4:]))
        elif file is not None and not _take_header(file, line):
            if line.startswith("@@"):
                if not _RANGE.match(line):
                    raise BadRequest(f"{line[:80]!r} is not a hunk header.", hint=_HOW)
                file.hunks.append(Hunk([], (), int(_RANGE.findall(line)[0])))
            elif file.hunks and not (not line and number == len(lines) - 1):
                _add_line(file.hunks[-1], line, number + 1)
        elif line.strip() and file is None and not files and line.startswith("@@"):
            raise BadRequest("The patch does not say which file it changes.", hint=_HOW)
    return files


def _names_a_file(lines: Sequence[str], number: int, *, is_in_hunk: bool) -> bool:
    """Return whether a file's two name lines start here, rather than a removed and an added line of a hunk."""
    here = lines[number : number + 3]
    names = [line[:4] for line in here[:2]] == ["--- ", "+++ "]
    return names and (not is_in_hunk or (len(here) == 3 and _RANGE.match(here[2]) is not None))


def _named(files: list[FilePatch], file: FilePatch | None, old: str, new: str) -> FilePatch:
    """Return the section for the file named by `---` and `+++`; start a new one unless git's header did."""
    if file is None or file.hunks:
        file = FilePatch("update", old)
        files.append(file)
    if old == "/dev/null":
        file.action, file.path = "add", new
    elif new == "/dev/null":
        file.action, file.path = "delete", old
    else:
        file.path = old
        file.moved_to = new if new != old else file.moved_to
    return file


def _take_header(file: FilePatch, line: str) -> bool:
    """Process a git header line between a file's names and its hunks; return whether the line is one."""
    if file.hunks:
        return False
    head, _, rest = line.partition(" ")
    if line.startswith(("GIT binary patch", "Binary files ")):
        raise BadRequest("Binary patches cannot be applied.", hint="Create the file with a command.")
    if line.startswith(("copy from ", "copy to ")):
        raise BadRequest("Patches cannot copy files.", hint="Add the new file with its whole content.")
    if line.startswith("rename to "):
        file.moved_to = _unquoted(line.removeprefix("rename to "))
    elif line.startswith("rename from "):
        file.path = _unquoted(line.removeprefix("rename from "))
    elif line.startswith("deleted file mode "):
        file.action = "delete"
    elif line.startswith("new file mode "):
        file.action = "add"
    else:
        return head in ("index", "similarity", "dissimilarity", "old", "new") and bool(rest)
    return True


def _names_of(line: str) -> str:
    """Return the old name in `diff --git a/x b/x`, which is only used if no better one follows."""
    names = line.removeprefix("diff --git ")
    half = len(names) // 2
    return _name(names[:half] if names[half : half + 1] == " " else names.partition(" ")[0])


def _name(written: str) -> str:
    """Return the path from a `---` or `+++` line, without its prefix letter, timestamp and quotes."""
    path = _unquoted(written.partition("\t")[0].strip() if not written.startswith('"') else written.strip())
    return path[2:] if path.startswith(("a/", "b/")) else path


def _unquoted(path: str) -> str:
    if not (len(path) > 1 and path.startswith('"') and path.endswith('"')):
        return path
    plain = re.sub(rb"\\([0-7]{3}|.)", _unescaped, path[1:-1].encode())
    return plain.decode("utf-8", "replace")


def _unescaped(found: "re.Match[bytes]") -> bytes:
    code = found[1]
    if code.isdigit():
        return bytes([int(code, 8) & 0xFF])
    return {b"n": b"\n", b"t": b"\t", b"r": b"\r"}.get(code, code)
