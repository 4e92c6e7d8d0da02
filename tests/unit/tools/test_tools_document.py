"""docs/tools.md names every tool there is, and none that there is not."""

from tests.architecture.sources import ROOT
from tests.unit.test_documents import names, rows

DOCUMENT = (ROOT / "docs" / "tools.md").read_text(encoding="utf-8")


def test_every_tool_is_documented() -> None:
    leaves = (ROOT / "hermes_acp" / "tools" / "builtin").glob("[!_]*.py")
    documented = [name for row in rows(DOCUMENT, "# Tools") for name in names(row[0])]
    assert sorted(documented) == sorted(leaf.stem for leaf in leaves)
