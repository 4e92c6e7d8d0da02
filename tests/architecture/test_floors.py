"""A package imports only from floors below its own; the contract is in pyproject.toml."""

from importlinter.cli import lint_imports

from tests.architecture.sources import ROOT


def test_every_package_imports_only_from_lower_floors() -> None:
    assert lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True) == 0
