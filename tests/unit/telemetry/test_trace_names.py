"""docs/telemetry.md contains every exported name, and no other."""

import re

from hermes_acp.telemetry.traces import conventions
from tests.architecture.sources import ROOT


def test_every_exported_name_is_documented() -> None:
    text = (ROOT / "docs" / "telemetry.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"`((?:gen_ai|hermes|mcp)\.[a-z_.]+|error\.type)`", text))
    exported = {
        value
        for name, value in vars(conventions).items()
        if name.isupper() and isinstance(value, str) and "." in value and name != "VERSION"
    }
    assert documented == exported
    assert f"release {conventions.VERSION}" in text
