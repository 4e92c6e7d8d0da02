"""Turning a model's answer for a gap in a text into a completion."""

import pytest

from hermes_acp.agent.code_completion import CompletionGap, complete_code, trim_completion
from tests.conversations.scripted_provider import ScriptedProvider, step
from tests.unit.agent.turns import MemoryJournal, MemoryLog, open_turn


@pytest.mark.parametrize(
    ("answer", "before", "behind", "expected"),
    [
        ("w * h", "    return ", "\n", "w * h"),
        ("```python\nw * h\n```", "    return ", "\n", "w * h"),
        ("    return w * h", "    return ", "\n", "w * h"),
        ("w * h)\n", "print(", ")\nnext\n", "w * h"),
        ("  \n", "x = ", "\n", ""),
        ("\n    pass", "def f():", "\n", "\n    pass"),
    ],
)
def test_only_the_missing_text_remains(answer: str, before: str, behind: str, expected: str) -> None:
    assert trim_completion(answer, before, behind) == expected


@pytest.mark.anyio
async def test_cost_is_recorded_although_no_session_has_it() -> None:
    provider = ScriptedProvider()
    provider.plays(step("w * h"))
    deps = open_turn(provider, MemoryJournal()).deps
    gap = CompletionGap("/project/a.py", "    return ", "\n")
    assert await complete_code(deps, gap, "/project", max_tokens=64) == "w * h"
    assert isinstance(deps.expenses, MemoryLog)
    facts = {"provider": "scripted", "model": "scripted-1", "cost_usd": 0.00002}
    counts = {"input_tokens": 10, "output_tokens": 5, "cached_tokens": 0}
    assert deps.expenses.lines == [("completion", facts | counts)]
