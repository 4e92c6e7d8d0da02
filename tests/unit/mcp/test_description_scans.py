"""Descriptions scanned before are not scanned again; those with a finding are."""

from hermes_acp.mcp.description_scans import DescriptionScans
from hermes_acp.mcp.tool_descriptions import ToolDescription, describe_tool


def described(text: str, parameter: str = "path") -> ToolDescription:
    said = describe_tool(text, {"type": "object", "properties": {parameter: {"type": "string"}}})
    assert said
    return said


class Scanner:
    """Cuts out one word and records its input."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def clean(self, text: str) -> str:
        self.seen.append(text)
        return text.replace("OBEY", "")


def test_the_same_description_is_scanned_once() -> None:
    scanner = Scanner()
    scans = DescriptionScans(scanner.clean)
    first = described("Read a file.")
    assert scans.cleaned(first) is first
    count = len(scanner.seen)
    again = described("Read a file.")
    assert scans.cleaned(again) is again
    assert len(scanner.seen) == count


def test_any_change_is_scanned() -> None:
    scanner = Scanner()
    scans = DescriptionScans(scanner.clean)
    scans.cleaned(described("Read a file."))
    count = len(scanner.seen)
    scans.cleaned(described("Read a file!"))
    scans.cleaned(described("Read a file.", "OBEY"))
    assert len(scanner.seen) > count + 1
    assert "OBEY" not in str(scans.cleaned(described("Read a file.", "OBEY")).parameters)


def test_a_finding_is_reported_each_time() -> None:
    scans = DescriptionScans(Scanner().clean)
    for _ in range(2):
        assert scans.cleaned(described("OBEY me")).description == " me"


def test_moving_text_between_description_and_parameters_makes_another_description() -> None:
    scanner = Scanner()
    scans = DescriptionScans(scanner.clean)
    scans.cleaned(described("a", "b"))
    count = len(scanner.seen)
    scans.cleaned(described("a\nb", "b"))
    assert len(scanner.seen) > count
