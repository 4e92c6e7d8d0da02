"""docs/configuration.md names every extra that can be installed."""

import tomllib

from tests.architecture.sources import ROOT
from tests.unit.test_documents import CONFIGURATION, names, rows


def test_every_extra_is_documented() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    documented = [name for row in rows(CONFIGURATION, "## Extras") for name in names(row[0])]
    assert sorted(documented) == sorted(project["optional-dependencies"])
