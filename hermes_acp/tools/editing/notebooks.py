"""Read the cells of Jupyter notebooks, and change one cell while keeping the rest.

Source: the notebook format's documentation, "The Notebook file format" (nbformat 4.5: cells have ids).
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal, cast

from msgspec import Struct

from hermes_acp.core.errors import WorkspaceError
from hermes_acp.core.messages import ImagePart
from hermes_acp.tools.image_files import image_from_base64

ENDING: Final = ".ipynb"
MAX_OUTPUT_CHARS: Final = 2000
MAX_VIEW_CHARS: Final = 200_000
MAX_IMAGES: Final = 8
_PICTURES: Final = ("image/png", "image/jpeg")
Action = Literal["replace", "insert", "delete"]
Kind = Literal["code", "markdown", "raw"]
Json = dict[str, Any]


class Cells(Struct, frozen=True):
    """The cells of a notebook, rendered for reading."""

    text: str
    pictures: tuple[ImagePart, ...]


class CellEdit(Struct, frozen=True):
    """A change to the cell with this ID or number (from 0), or an insertion after it (if `cell` is empty, first)."""

    action: Action
    cell: str
    source: str = ""
    kind: Kind | None = None


def show_notebook(text: str) -> Cells | None:
    """Return a notebook's cells with their numbers, IDs and outputs, or None if the text is not a notebook."""
    try:
        cells = _cells(_read(text))
    except WorkspaceError:
        return None
    pieces = [f"[a notebook of {len(cells)} cells; change them with notebook_edit]"]
    pictures: list[ImagePart] = []
    for number, cell in enumerate(cells):
        name = f", id {cell['id']}" if isinstance(cell.get("id"), str) else ""
        pieces.append(f"=== cell {number} ({cell.get('cell_type')}{name})\n{_joined(cell.get('source'))}")
        pieces += (f"--- output\n{told}" for told in _outputs(cell, pictures))
    view = "\n".join(pieces)
    if len(view) > MAX_VIEW_CHARS:
        view = f"{view[:MAX_VIEW_CHARS]}\n[… {len(view) - MAX_VIEW_CHARS:,} more characters; read lines with offset]"
    return Cells(view, tuple(pictures))


def _outputs(cell: Json, pictures: list[ImagePart]) -> Iterator[str]:
    """Yield a cell's outputs as text, and add its images to `pictures` while there is room."""
    for output in _tables(cell.get("outputs")):
        (data,) = _tables([output.get("data")]) or ({},)
        for mime_type in _PICTURES:
            if mime_type in data and len(pictures) < MAX_IMAGES:
                picture = image_from_base64("".join(_joined(data[mime_type]).split()))
                pictures += [picture] if picture else []
                yield f"[{mime_type}]" if picture else f"[{mime_type}, which cannot be shown]"
        text = _joined(output.get("text") or data.get("text/plain") or "")
        if output.get("output_type") == "error":
            text = f"{output.get('ename')}: {output.get('evalue')}"
        if len(text) > MAX_OUTPUT_CHARS:
            text = f"{text[:MAX_OUTPUT_CHARS]} [… {len(text) - MAX_OUTPUT_CHARS:,} more characters]"
        if text:
            yield text


def edit_notebook(text: str, edit: CellEdit) -> str:
    """Return the notebook with one change made, in its original layout. Raises WorkspaceError for an invalid change."""
    notebook = _read(text)
    cells = _cells(notebook)
    if edit.action == "insert":
        at = _find(cells, edit.cell) + 1 if edit.cell else 0
        cells.insert(at, _new_cell(notebook, cells, edit))
    elif edit.action == "delete":
        del cells[_find(cells, edit.cell)]
    else:
        _fill(cells[_find(cells, edit.cell)], edit)
    return _write(notebook, text)


def _fill(cell: Json, edit: CellEdit) -> None:
    """Replace a cell's source and drop its outputs, which no longer apply."""
    cell["source"] = _as_before(edit.source, cell.get("source"))
    if edit.kind and edit.kind != cell.get("cell_type"):
        cell["cell_type"] = edit.kind
        if edit.kind != "code":
            cell.pop("outputs", None)
            cell.pop("execution_count", None)
    if cell.get("cell_type") == "code":
        cell["execution_count"], cell["outputs"] = None, []


def _new_cell(notebook: Json, cells: Sequence[Json], edit: CellEdit) -> Json:
    kind = edit.kind or "code"
    cell: Json = {"cell_type": kind}
    minor = notebook.get("nbformat_minor", 0)
    if isinstance(minor, int) and minor >= 5:
        cell["id"] = _fresh_id(cells, edit.source)
    if kind == "code":
        cell["execution_count"] = None
    cell["metadata"] = {}
    if kind == "code":
        cell["outputs"] = []
    cell["source"] = _as_before(edit.source, cells[0].get("source") if cells else [])
    return cell


def _fresh_id(cells: Sequence[Json], source: str) -> str:
    from hashlib import blake2b

    taken = {cell.get("id") for cell in cells}
    number = len(cells)
    while (name := blake2b(f"{number} {source}".encode(), digest_size=4).hexdigest()) in taken:
        number += 1
    return name


def _find(cells: Sequence[Json], name: str) -> int:
    for number, cell in enumerate(cells):
        if cell.get("id") == name:
            return number
    if name.isascii() and name.isdigit() and len(name) < 10 and int(name) < len(cells):
        return int(name)
    raise WorkspaceError(
        f"There is no cell {name!r}; the notebook has {len(cells)} cells, from 0 on.",
        hint="Read the notebook, which shows the cells with their numbers and IDs.",
    )


def _as_before(source: str, former: object) -> object:
    """Return a source in the form of the former one: a string, or a list of lines with their endings."""
    return source if isinstance(former, str) else source.splitlines(keepends=True)


def _tables(values: object) -> list[Json]:
    """Return the objects in a list, ignoring values of any other type."""
    listed = cast("list[object]", values) if isinstance(values, list) else []
    return [cast("Json", each) for each in listed if isinstance(each, dict)]


def _joined(text: object) -> str:
    return "".join(map(str, cast("list[object]", text))) if isinstance(text, list) else str(text or "")


def _read(text: str) -> Json:
    try:
        notebook = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise WorkspaceError(f"This is not a notebook: {error}.", hint="Read it as text.") from error
    if not isinstance(notebook, dict) or cast("Json", notebook).get("nbformat") != 4:
        raise WorkspaceError("This is not a notebook in format 4.", hint="Edit it as text.")
    return cast("Json", notebook)


def _cells(notebook: Json) -> list[Json]:
    cells = notebook.get("cells")
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cast("list[object]", cells)):
        raise WorkspaceError("This notebook has no list of cells.", hint="Edit it as text.")
    return cast("list[Json]", cells)


def _write(notebook: Json, former: str) -> str:
    """Serialise a notebook like its former text: indentation, escapes and final newline."""
    head = former.lstrip().removeprefix("{")
    rest = head.lstrip(" \t\r\n")
    lead = head[: len(head) - len(rest)].rpartition("\n")
    indent: int | str | None = None
    if lead[1]:
        indent = lead[2] if "\t" in lead[2] else len(lead[2])
    separators = None if indent is not None or '": ' in former else (",", ":")
    is_escaped = former.isascii() and "\\u" in former
    try:
        text = json.dumps(
            notebook, indent=indent, separators=separators, ensure_ascii=is_escaped, allow_nan=False
        )
    except (ValueError, RecursionError) as error:
        raise WorkspaceError(
            f"This notebook cannot be written back: {error}.", hint="Edit it as text."
        ) from error
    end = former[len(former.rstrip()) :]
    return (text.replace("\n", "\r\n") if "\r\n" in former else text) + end
