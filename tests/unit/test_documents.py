"""docs/headless.md and docs/configuration.md say what the code says, name by name."""

import re
from types import NoneType
from typing import Any, get_args

import msgspec
from pydantic import BaseModel

from hermes_acp.config.environment import MODEL_VARIABLES, SWITCHES
from hermes_acp.config.provider_presets import presets
from hermes_acp.config.settings import ProviderSettings, Settings
from hermes_acp.core.events import Event
from hermes_acp.frontends.cli.run.headless_session import EXIT_CODES, RunReport
from hermes_acp.models.wire.local_detection import LOCAL_PORTS
from tests.architecture.sources import ROOT

HEADLESS = (ROOT / "docs" / "headless.md").read_text(encoding="utf-8")
CONFIGURATION = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")


def rows(document: str, heading: str) -> list[list[str]]:
    """Return the cells of every table row between a heading and the next one."""
    section = document.split(f"{heading}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in section.splitlines() if line.startswith("| `") or re.match(r"\| \d", line)]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def names(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def settings_of(model: type[BaseModel], prefix: str = "") -> dict[str, Any]:
    """Return every setting by its dotted name, with its default."""
    found: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        if name == "providers":
            found |= settings_of(ProviderSettings, "providers.<name>.")
        elif isinstance(field.default, BaseModel):
            found |= settings_of(type(field.default), f"{prefix}{name}.")
        else:
            found[f"{prefix}{name}"] = field.get_default(call_default_factory=True)
    return found


def shown(default: object) -> str:
    return "none" if isinstance(default, NoneType) else f"`{default}`"


def test_every_event_is_documented_with_its_fields() -> None:
    documented = {names(row[0])[0]: names(row[1]) for row in rows(HEADLESS, "## The events of `stream-json`")}
    written: dict[str, list[str]] = {}
    for event in get_args(Event):
        info = msgspec.inspect.type_info(event)
        assert isinstance(info, msgspec.inspect.StructType)
        written[str(info.tag)] = [field.encode_name for field in info.fields]
    assert documented == written


def test_the_result_line_is_documented() -> None:
    documented = [
        names(row[0])[0]
        for row in rows(HEADLESS, "## The last line: `result`")
        if len(row) == 2 and not row[1].isdigit()
    ]
    assert documented == ["type", *RunReport.__struct_fields__]


def test_every_reason_is_documented_with_its_exit_code() -> None:
    table = rows(HEADLESS, "## The last line: `result`")
    documented = {names(row[0])[0]: int(row[1]) for row in table if row[1].isdigit()}
    assert documented == dict(EXIT_CODES)


def test_every_exit_code_is_documented() -> None:
    documented = {int(row[0]) for row in rows(HEADLESS, "## Exit codes")}
    assert documented == {2, *EXIT_CODES.values()}


def test_every_setting_is_documented_with_its_default() -> None:
    documented = {names(row[0])[0]: row[1] for row in rows(CONFIGURATION, "## `config.yaml`")}
    assert documented == {name: shown(default) for name, default in settings_of(Settings).items()}


def test_every_variable_is_documented() -> None:
    documented = {names(row[0])[0] for row in rows(CONFIGURATION, "## Environment variables")}
    assert documented == {"HERMES_HOME", *MODEL_VARIABLES, *SWITCHES}


def test_the_detected_ports_are_documented() -> None:
    for name, port in LOCAL_PORTS:
        assert name in CONFIGURATION
        assert str(port) in CONFIGURATION


def test_the_readme_names_every_section_and_variable() -> None:
    for name in (*Settings.model_fields, "HERMES_HOME", *MODEL_VARIABLES):
        assert f"`{name}`" in README, name


def test_every_provider_is_documented_with_its_address_and_key() -> None:
    documented = {names(row[0])[0]: row[1:] for row in rows(CONFIGURATION, "## Providers")}
    written = {
        name: [
            preset.label,
            f"`{preset.base_url}`",
            " or ".join(f"`{variable}`" for variable in preset.key_variables)
            or ("[borrowed](#borrowed-keys)" if preset.lender else "none"),
        ]
        for name, preset in presets().items()
    }
    assert {name: [cell.strip() for cell in cells] for name, cells in documented.items()} == written
