"""The values that the Helm chart accepts. `make release` also renders it and validates every manifest."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Mapping
from typing import Any

import pytest
import yaml
from jsonschema import Draft7Validator

from tests.architecture.sources import ROOT

CHART = ROOT / "examples" / "helm" / "hermes-acp"
SCHEMA = json.loads((CHART / "values.schema.json").read_text())
VALUES = yaml.safe_load((CHART / "values.yaml").read_text())


def faults(values: Mapping[str, Any]) -> list[str]:
    validator: Any = Draft7Validator(SCHEMA)
    return [error.message for error in validator.iter_errors(values)]


def merged(path: str, value: Any) -> dict[str, Any]:
    values = copy.deepcopy(VALUES)
    *folders, name = path.split(".")
    place = values
    for folder in folders:
        place = place[folder]
    place[name] = value
    return values


def test_the_schema_is_valid_and_accepts_the_default_values() -> None:
    Draft7Validator.check_schema(SCHEMA)
    assert faults(VALUES) == []


def test_every_value_is_described_and_every_description_is_used() -> None:
    """A value that no template reads has no effect; one that the schema lacks cannot be set."""
    templates = "".join(path.read_text() for path in sorted((CHART / "templates").iterdir()))
    used = {found.split(".")[0] for found in re.findall(r"\.Values\.([A-Za-z.]+)", templates)}
    assert {*VALUES} == {*SCHEMA["properties"]} - {"global"} == used | {"server", "worker"}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("typo", 1),
        ("server.typo", 1),
        ("image.digest", "sha256:short"),
        ("environment", {"ANTHROPIC_API_KEY": "sk-in-the-open"}),
        ("environment", {"HERMES_FLEET_DATABASE": "postgresql://u:p@h/d"}),
        ("environment", {"lower": "x"}),
        ("worker.replicas", -1),
        ("worker.drainSeconds", 0),
        ("server.allowHosts", ["https://a.example"]),
        ("server.allowOrigins", ["a.example"]),
        ("server.volumes.home.size", "5"),
        ("networkPolicy.ingressFrom", []),
    ],
)
def test_invalid_values_are_rejected(path: str, value: Any) -> None:
    assert faults(merged(path, value)) != []


def test_the_versions_match_the_package() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    version = re.search(r'^version = "(.+)"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert version
    assert (chart["version"], chart["appVersion"]) == (version[1], version[1])
