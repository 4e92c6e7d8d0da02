"""What is made of a model's answer to a gap."""

import pytest

from hermes_acp.agent.completing import shaped


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
def test_only_what_is_missing_is_left(answer: str, before: str, behind: str, expected: str) -> None:
    assert shaped(answer, before, behind) == expected
