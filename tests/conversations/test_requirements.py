"""The manifest of requirements is correct: the tests it names exist, and nothing in the kit is missing."""

import ast
from pathlib import Path

import pytest

from tests.conversations.normative import MUSTS
from tests.conversations.requirements import BAD_INPUT, KIT, LATER, TRAPS, Requirement

ROOT = Path(__file__).parents[2]
COUNTS = {
    "transport": 2, "jsonrpc": 5, "init": 4, "schema": 2, "session": 2, "prompt": 3, "cancel": 2, "config": 3,
    "auth": 5, "clientcap": 3, "ext": 1, "load": 3, "resume": 2, "list": 2, "delete": 2, "close": 2, "adddirs": 1,
    "modes": 2, "promptcap": 3, "meta": 1, "error": 1, "shutdown": 1,
}  # fmt: skip


def functions_of(file: str) -> set[str]:
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


@pytest.mark.parametrize("requirement", [*KIT, *TRAPS, *BAD_INPUT, *MUSTS], ids=lambda each: each.name)
def test_every_requirement_names_tests_that_exist(requirement: Requirement) -> None:
    assert requirement.tests
    assert set(requirement.tests) <= functions_of(requirement.file)
    assert all(name.startswith("test_") for name in requirement.tests)


def test_every_obligation_in_the_kit_is_met_or_has_a_reason_to_wait() -> None:
    expected = {f"{name}-{number:03}" for name, count in COUNTS.items() for number in range(1, count + 1)}
    listed = [each.name for each in (*KIT, *LATER)]
    assert expected <= set(listed)
    assert len(listed) == len(set(listed))


def test_pending_obligations_say_why() -> None:
    assert all(len(each.reason) > 20 for each in LATER)
