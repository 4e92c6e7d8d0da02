"""Terminal control sequences in a process's output are removed."""

import pytest

from hermes_acp.core.ports.workspace_ports import OutputSnapshot
from hermes_acp.tools.command_outcomes import describe_output


@pytest.mark.parametrize(
    "order",
    [
        "\x1b]0;title\x07",
        "\x1b]52;c;aGk=\x1b\\",
        "\x1b[6n",
        "\x1b[c",
        "\x1b[2J",
        "\x1bP+q544e\x1b\\",
        "\x1bc",
        "\x1b[?1049h",
    ],
)
def test_control_sequences_are_removed(order: str) -> None:
    assert describe_output("p1", OutputSnapshot(f"one {order}two\n", None)).text == "one two\n[p1 is running]"


def test_colours_are_kept() -> None:
    assert "\x1b[1;31mred\x1b[0m" in describe_output("p1", OutputSnapshot("\x1b[1;31mred\x1b[0m", None)).text
