"""docs/scanner.md names every category, severity and field."""

import msgspec

from hermes_acp.frontends.cli.scan.scan_lines import BadLine, ScanAnswer
from hermes_acp.storage.allowed_texts import FILE
from injection_scanner.findings import Finding
from injection_scanner.rules.scanner_rules import load_scan_rules
from tests.architecture.sources import ROOT
from tests.unit.test_documents import names, rows

SCANNER = (ROOT / "docs" / "scanner.md").read_text(encoding="utf-8")


def test_every_category_is_documented() -> None:
    documented = [names(row[0])[0] for row in rows(SCANNER, "## Categories")]
    assert documented == sorted({rule.category for rule in load_scan_rules().rules.values()})


def test_severities_fields_and_the_allowance_file_are_documented() -> None:
    assert {names(row[0])[0] for row in rows(SCANNER, "## Severities")} == {"info", "warn", "block"}
    fields = {field.encode_name for field in msgspec.structs.fields(ScanAnswer)}
    assert {names(row[0])[0] for row in rows(SCANNER, "## Answers of `--jsonl`")} == fields
    for field in (*msgspec.structs.fields(Finding), *msgspec.structs.fields(BadLine)):
        assert f"`{field.encode_name}`" in SCANNER
    assert f"`{FILE}`" in SCANNER
