"""Write file changes as one git patch.

Paths are absolute: after `a/` or `b/` comes the path from the root directory. Source: the man page of git-diff,
"Generating patch text with -p".
"""

from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from itertools import chain
from types import MappingProxyType
from typing import Final

from hermes_acp.core.event_types import Diff

Opcode = tuple[str, int, int, int, int]
CONTEXT_LINES: Final = 3
MAX_COMPARED_LINES: Final = 2000
NO_NEWLINE_AT_END: Final = "\\ No newline at end of file\n"
_ESCAPES: Final = MappingProxyType(
    str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"})
)


def git_patch(diffs: Iterable[Diff]) -> str:
    """Return the changes as a patch for `git apply --unsafe-paths --directory=/`."""
    return "".join(chain.from_iterable(_file(diff) for diff in diffs))


def _file(diff: Diff) -> Iterator[str]:
    before, after = _name("a", diff.path), _name("b", diff.path)
    yield f"diff --git {before} {after}\n"
    if diff.old_text is None:
        yield "new file mode 100644\n"
        before = "/dev/null"
    if diff.is_deleted:
        yield "deleted file mode 100644\n"
        after = "/dev/null"
    old, new = _lines(diff.old_text or ""), _lines(diff.new_text)
    if old != new:
        yield f"--- {before}\n+++ {after}\n"
        yield from _hunks(old, new, diff.first_line - 1)


def _name(side: str, path: str) -> str:
    name = f"{side}/{path.lstrip('/')}"
    escaped = name.translate(_ESCAPES)
    return f'"{escaped}"' if escaped != name else name


def _lines(text: str) -> list[str]:
    pieces = text.split("\n")
    last = pieces.pop()
    return [f"{piece}\n" for piece in pieces] + ([f"{last}\n{NO_NEWLINE_AT_END}"] if last else [])


def _hunks(old: list[str], new: list[str], above: int) -> Iterator[str]:
    """Yield the hunks between two texts from which the common prefix and suffix were removed.

    `above` is the number of lines in the common prefix.
    """
    most = min(len(old), len(new))
    head = next((i for i in range(most) if old[i] != new[i]), most)
    tail = next((i for i in range(most - head) if old[-1 - i] != new[-1 - i]), most - head)
    skipped, rest = max(head - CONTEXT_LINES, 0), max(tail - CONTEXT_LINES, 0)
    left, right = old[skipped : len(old) - rest], new[skipped : len(new) - rest]
    groups: Iterable[list[Opcode]] = [[("replace", 0, len(left), 0, len(right))]]
    if len(left) + len(right) <= MAX_COMPARED_LINES:
        groups = SequenceMatcher(None, left, right, autojunk=False).get_grouped_opcodes(CONTEXT_LINES)
    for group in groups:
        first, last = group[0], group[-1]
        start = above + skipped
        before = _range(start + first[1], last[2] - first[1])
        yield f"@@ -{before} +{_range(start + first[3], last[4] - first[3])} @@\n"
        for opcode in group:
            yield from _change(opcode, left, right)


def _change(opcode: Opcode, left: list[str], right: list[str]) -> Iterator[str]:
    kind, i, i_end, j, j_end = opcode
    if kind == "equal":
        yield from (f" {line}" for line in left[i:i_end])
        return
    yield from (f"-{line}" for line in left[i:i_end])
    yield from (f"+{line}" for line in right[j:j_end])


def _range(start: int, count: int) -> str:
    """Return the line range of a hunk, counted from 1; an empty range precedes its line."""
    return f"{start + 1 if count else start},{count}"
