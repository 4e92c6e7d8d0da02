"""Notebooks: reading cells, changing one cell, and leaving everything else unchanged byte for byte."""

import json
from base64 import b64encode
from typing import Any

import pytest

from hermes_acp.core.errors import WorkspaceError
from hermes_acp.core.messages import ImagePart
from hermes_acp.tools.editing.notebooks import CellEdit, edit_notebook, show_notebook
from tests.unit.tools.tool_calling import MemoryWorkspace, perform, propose

pytestmark = pytest.mark.anyio
PNG = b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR\0\0\0\1\0\0\0\1" + bytes(9) + b"\0\0\0\0IEND"
PICTURE = b64encode(PNG).decode()
NOTEBOOK: dict[str, Any] = {
    "cells": [
        {
            "cell_type": "markdown",
            "id": "intro",
            "metadata": {"tags": ["x"]},
            "source": ["# Grüße\n", "text"],
        },
        {
            "cell_type": "code",
            "execution_count": 3,
            "id": "calc",
            "metadata": {},
            "outputs": [
                {"name": "stdout", "output_type": "stream", "text": ["4\n"]},
                {
                    "output_type": "display_data",
                    "data": {"image/png": f"{PICTURE}\n", "text/plain": "<Figure>"},
                    "metadata": {},
                },
                {"output_type": "error", "ename": "ValueError", "evalue": "no", "traceback": []},
            ],
            "source": "2 + 2",
        },
    ],
    "metadata": {"kernelspec": {"name": "python3"}, "zz": 1.0},
    "nbformat": 4,
    "nbformat_minor": 5,
}
LAYOUTS = [
    json.dumps(NOTEBOOK, indent=1, ensure_ascii=False) + "\n",
    json.dumps(NOTEBOOK, indent=2),
    json.dumps(NOTEBOOK, indent="\t", ensure_ascii=False),
    json.dumps(NOTEBOOK, separators=(",", ":"), ensure_ascii=False),
    json.dumps(NOTEBOOK) + "\n\n",
]


def test_a_notebook_is_read_cell_by_cell() -> None:
    cells = show_notebook(LAYOUTS[0])
    assert cells
    assert "=== cell 0 (markdown, id intro)\n# Grüße\ntext" in cells.text
    assert "=== cell 1 (code, id calc)\n2 + 2\n--- output\n4\n" in cells.text
    assert "ValueError: no" in cells.text
    assert cells.pictures == (ImagePart("image/png", PICTURE),)
    assert show_notebook("{}") is None
    assert show_notebook("{") is None


@pytest.mark.parametrize("layout", LAYOUTS, ids=["one", "two", "tab", "tight", "line"])
def test_all_but_the_changed_cell_keeps_its_layout(layout: str) -> None:
    after = edit_notebook(layout, CellEdit("replace", "intro", "# Grüße\ntext!"))
    assert after.replace("text!", "text") == layout
    back = edit_notebook(edit_notebook(layout, CellEdit("insert", "0", "x = 1")), CellEdit("delete", "1"))
    assert back == layout


def test_a_changed_code_cell_loses_its_old_outputs() -> None:
    after = json.loads(edit_notebook(LAYOUTS[0], CellEdit("replace", "1", "3 + 3")))
    assert after["cells"][1] == NOTEBOOK["cells"][1] | {
        "source": "3 + 3",
        "execution_count": None,
        "outputs": [],
    }
    words = json.loads(edit_notebook(LAYOUTS[0], CellEdit("replace", "calc", "words", "markdown")))
    assert words["cells"][1] == {"cell_type": "markdown", "id": "calc", "metadata": {}, "source": "words"}


def test_a_new_cell_has_the_fields_the_format_requires() -> None:
    after = json.loads(edit_notebook(LAYOUTS[0], CellEdit("insert", "", "a\nb")))
    new = after["cells"][0]
    assert (new["cell_type"], new["source"], new["outputs"], new["metadata"]) == (
        "code",
        ["a\n", "b"],
        [],
        {},
    )
    assert len({cell["id"] for cell in after["cells"]}) == 3
    old = json.dumps(NOTEBOOK | {"nbformat_minor": 2})
    assert "id" not in json.loads(edit_notebook(old, CellEdit("insert", "1", "#", "markdown")))["cells"][2]


@pytest.mark.parametrize(
    ("text", "edit", "said"),
    [
        (LAYOUTS[0], CellEdit("delete", "7"), "no cell '7'; the notebook has 2"),
        ("{", CellEdit("delete", "0"), "not a notebook"),
        ('{"nbformat": 3}', CellEdit("delete", "0"), "format 4"),
        ('{"nbformat": 4, "cells": [1]}', CellEdit("delete", "0"), "list of cells"),
    ],
)
def test_an_invalid_edit_says_why(text: str, edit: CellEdit, said: str) -> None:
    with pytest.raises(WorkspaceError, match=said):
        edit_notebook(text, edit)


async def test_the_tools_read_and_change_it() -> None:
    workspace = MemoryWorkspace({"n.ipynb": LAYOUTS[0].encode()})
    result = await perform("read_file", workspace, path="n.ipynb")
    assert result.parts == (ImagePart("image/png", PICTURE),)
    assert "     1\t{" in (await perform("read_file", workspace, path="n.ipynb", offset=1, limit=2)).text
    proposal = await propose("notebook_edit", workspace, path="n.ipynb", cell=1, source="5")
    assert proposal.title == "Edit cell 1 of n.ipynb"
    await perform("notebook_edit", workspace, path="n.ipynb", cell=1, source="5")
    assert b'"source": "5"' in workspace.files["/project/n.ipynb"]
    with pytest.raises(WorkspaceError, match="cell is missing"):
        await propose("notebook_edit", workspace, path="n.ipynb", source="5")
    with pytest.raises(WorkspaceError, match="not a notebook"):
        await propose("notebook_edit", workspace, path="n.txt", cell=0)


@pytest.mark.parametrize(
    "text",
    [
        '{"nbformat":4,"cells":[{"cell_type":"code","source":null,"outputs":[1, null]}]}',
        '{"nbformat":4,"cells":[{"cell_type":"code","outputs":{"a":1},"source":[]}]}',
        '{"nbformat":4,"cells":[{"cell_type":"code","outputs":[{"data":[1]}],"source":[]}]}',
        '{"nbformat":4,"nbformat_minor":"x","cells":[{"outputs":[{"data":{"image/png":{"a":1}}}],"source":5}]}',
    ],
)
def test_an_invalid_notebook_breaks_nothing(text: str) -> None:
    assert show_notebook(text)
    assert '"new' in edit_notebook(text, CellEdit("insert", "", "new"))


@pytest.mark.parametrize("cell", ["²", "-1", "0x0", "9" * 5000])
def test_an_invalid_cell_is_reported(cell: str) -> None:
    with pytest.raises(WorkspaceError):
        edit_notebook('{"nbformat":4,"cells":[{"source":""}]}', CellEdit("replace", cell, "x"))


def test_a_number_that_would_change_is_left_alone() -> None:
    with pytest.raises(WorkspaceError, match="cannot be written back"):
        edit_notebook('{"nbformat":4,"cells":[{"source":"","a":1e999}]}', CellEdit("insert", "", "x"))


@pytest.mark.parametrize(
    "data",
    [
        "aGk=",
        b64encode(PNG[:30]).decode(),
        "not base64",
        b64encode(b"\x89PNG" + b"x" * 4_000_000).decode(),
        {"a": 1},
        None,
    ],
)
def test_an_invalid_image_is_reported_and_not_sent(data: object) -> None:
    cell = {"cell_type": "code", "source": "", "outputs": [{"data": {"image/png": data}}]}
    cells = show_notebook(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]}))
    assert cells is not None
    assert cells.pictures == ()
    assert "[image/png, which cannot be shown]" in cells.text
