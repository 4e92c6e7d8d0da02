"""Checks that the tests named for the rows exist."""

import ast
from pathlib import Path

import pytest

from tests.attacks.covered_elsewhere import ELSEWHERE

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("row", ELSEWHERE)
def test_a_row_covered_elsewhere_has_its_tests_there(row: str) -> None:
    for named in ELSEWHERE[row]:
        file, _, function = named.partition("::")
        tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        defined = {
            node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        }
        assert function in defined, named
