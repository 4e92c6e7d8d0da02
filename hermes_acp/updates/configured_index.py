"""Find the package index that uv or pip is configured to use instead of its default.

Only an index that replaces the default counts: an additional one would be mixed with a public index, where anyone could
offer a newer version under the same name. Sources: pip 26, "Configuration"; uv 0.13, "Configuration files" and
"Environment variables".
"""

import configparser
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, cast

from hermes_acp.updates.installation_kinds import UV_RECEIPT

UV_VARIABLES: Final = ("UV_DEFAULT_INDEX", "UV_INDEX_URL")
PIP_VARIABLES: Final = ("PIP_INDEX_URL",)


def configured_index(root: Path, installer: str, variables: Mapping[str, str]) -> str:
    """Return the URL of the index, or an empty string. Blocks."""
    is_uv = installer == "uv"
    found = _of_uv(root, variables) if is_uv else _of_pip(root, variables)
    return next((url.rstrip("/") for url in found if url), "")


def read_receipt_options(root: Path) -> Mapping[str, Any]:
    """Return the options that `uv tool install` recorded; none for another installation. Blocks."""
    return _table(_table(_toml(root / UV_RECEIPT), "tool"), "options")


def _of_uv(root: Path, variables: Mapping[str, str]) -> Iterator[str]:
    yield _in_table(read_receipt_options(root))
    for name in UV_VARIABLES:
        yield variables.get(name, "")
    user = Path(variables.get("XDG_CONFIG_HOME") or Path(variables.get("HOME", "/"), ".config"))
    for path in (user / "uv" / "uv.toml", Path("/etc/uv/uv.toml")):
        yield _in_table(_toml(path))


def _in_table(table: Mapping[str, Any]) -> str:
    indexes = cast("list[dict[str, Any]]", table.get("index") or [])
    for index in indexes:
        if index.get("default") and isinstance(index.get("url"), str):
            return index["url"]
    url = table.get("index-url")
    return url if isinstance(url, str) else ""


def _table(table: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    inner = table.get(name)
    return cast("Mapping[str, Any]", inner) if isinstance(inner, dict) else {}


def _toml(path: Path) -> Mapping[str, Any]:
    with suppress(OSError, tomllib.TOMLDecodeError, UnicodeDecodeError), path.open("rb") as file:
        return tomllib.load(file)
    return {}


def _of_pip(root: Path, variables: Mapping[str, str]) -> Iterator[str]:
    for name in PIP_VARIABLES:
        yield variables.get(name, "")
    home = Path(variables.get("HOME", "/"))
    user = Path(variables.get("XDG_CONFIG_HOME") or home / ".config")
    places = [root / "pip.conf", user / "pip" / "pip.conf", home / ".pip" / "pip.conf"]
    if named := variables.get("PIP_CONFIG_FILE"):
        places.insert(0, Path(named))
    for path in (*places, Path("/etc/xdg/pip/pip.conf"), Path("/etc/pip.conf")):
        parser = configparser.RawConfigParser()
        with suppress(OSError, configparser.Error, UnicodeDecodeError):
            parser.read_string(path.read_text(encoding="utf-8"))
        for section in ("install", "global"):
            yield parser.get(section, "index-url", fallback="").strip()
