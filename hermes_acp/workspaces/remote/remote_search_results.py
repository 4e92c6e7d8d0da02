"""Parse the output of ripgrep, grep and find on a remote machine."""

import os
import re
from collections.abc import Iterable
from typing import Final

from msgspec import structs

from hermes_acp.core.errors import WorkspaceError
from hermes_acp.core.ports.workspace_ports import FileQuery, SearchMatch, SearchQuery
from hermes_acp.core.word_breaks import slice_at_breaks
from hermes_acp.workspaces import ripgrep
from hermes_acp.workspaces.globs import Glob
from hermes_acp.workspaces.ripgrep_process import SearchEnd, read_end

MAX_TEXT_CHARS: Final = 2000
GREP_MATCH: Final = re.compile(rb"(?P<path>[^\0]*)\0(?P<line>\d+)(?P<kind>[:-])(?P<text>.*)")


def read_search(output: bytes, query: SearchQuery, place: str, *, by_ripgrep: bool) -> list[SearchMatch]:
    """Return at most `query.limit` matches with their context, by path and line. Raises WorkspaceError."""
    if by_ripgrep:
        found, complaint = ripgrep.read_matches(output, query)
        _, wanted = ripgrep.search_options(query)
    else:
        found, complaint = _read_grep(output, query)
        wanted = Glob(query.glob) if query.glob else None
    if complaint and not found:
        raise WorkspaceError(
            f"The search failed: {complaint}", hint="Correct the pattern, the glob or the type."
        )
    placed = [structs.replace(each, path=_absolute(each.path, place)) for each in found]
    meant = (each for each in placed if wanted is None or wanted.covers(_shown(each.path, place)))
    return list(_limited(sorted(meant, key=lambda match: (match.path, match.line)), query.limit))


def split_search_end(output: bytes, query: SearchQuery) -> tuple[bytes, SearchEnd]:
    """Return the complete messages in a search script's output, and how the search ended."""
    whole, is_ended, code = output.rpartition(b"\n\0exit ")
    if is_ended and code.isdigit():
        return whole + b"\n", SearchEnd(broken_off=read_end(int(code), "").broken_off)
    separator = b"\0" if query.shape == "files" else b"\n"
    whole, _, _ = output.rpartition(separator)
    return whole + separator, SearchEnd(
        broken_off="it found more than can be transferred from the other machine"
    )


def read_file_list(output: bytes, query: FileQuery, place: str) -> list[str]:
    """Return at most `query.limit` paths of matching files, in the given order."""
    glob = Glob(query.glob)
    left_out = [Glob(name) for name in query.excluded]
    meant: list[str] = []
    for name in output.split(b"\0"):
        path = _absolute(os.fsdecode(name), place) if name else place
        shown = _shown(path, place)
        if path != place and glob.covers(shown) and not any(each.covers(shown) for each in left_out):
            meant.append(path)
    return meant[: query.limit]


def _limited(matches: Iterable[SearchMatch], limit: int) -> Iterable[SearchMatch]:
    found = 0
    for match in matches:
        found += not match.is_context
        if found > limit:
            return
        yield match


def _absolute(path: str, place: str) -> str:
    """Return a reported path as an absolute path, relative to the folder of `place`."""
    return os.path.normpath(os.path.join(os.path.dirname(place), path))


def _shown(path: str, place: str) -> str:
    return os.path.relpath(path, place) if path != place else os.path.basename(path)


def _read_grep(output: bytes, query: SearchQuery) -> tuple[list[SearchMatch], str]:
    """Parse the lines of `grep -Z`: PATH NUL LINE : TEXT, or PATH NUL COUNT, or PATH NUL."""
    matches: list[SearchMatch] = []
    complaints: list[str] = []
    for line in output.split(b"\0" if query.shape == "files" else b"\n"):
        if query.shape == "files" and line:
            matches.append(SearchMatch(os.fsdecode(line), 0, ""))
        elif query.shape == "counts":
            path, _, count = line.partition(b"\0")
            if count.isdigit() and int(count):
                matches.append(SearchMatch(path.decode("utf-8", "replace"), 0, "", count=int(count)))
        elif match := GREP_MATCH.fullmatch(line):
            text = match["text"].rstrip(b"\r").decode("utf-8", "replace")
            if len(text) > MAX_TEXT_CHARS:
                text = f"{text[: slice_at_breaks(text, 0, MAX_TEXT_CHARS)[1]]}\N{HORIZONTAL ELLIPSIS}"
            path, is_context = match["path"].decode("utf-8", "replace"), match["kind"] == b"-"
            matches.append(SearchMatch(path, int(match["line"]), text, is_context=is_context))
        elif line and line != b"--":
            complaints.append(line.decode("utf-8", "replace"))
    return matches, "\n".join(complaints)
