"""Pin the protocol schemas and generate the Python code from them."""

import argparse
import json
from pathlib import Path
from typing import Final

from generator.model import Protocol
from generator.own_source import render_python, render_typescript
from generator.pinning import load_pin, pin_package, sha256_of
from generator.python_source import render_methods, render_types
from generator.reading import SchemaReader
from generator.stability import compare
from generator.versions import SOURCES, VERSIONS, Source, Version

PROTOCOL: Final = Path(__file__).resolve().parent
OWN_SCHEMA: Final = "schema/hermes.json"


def render_version(version: Version, protocol: Path) -> dict[str, str]:
    """Return the text of every file generated for a version, by path relative to `protocol`."""
    model = _read(version.full, protocol)
    stability = compare(_read(version.stable, protocol), model)
    pin = load_pin(version.full, protocol)
    name = Path(version.module).stem
    return {
        version.module: render_types(model, stability, pin, name),
        version.methods: render_methods(model, stability, pin, name),
    }


def render_own(protocol: Path) -> dict[str, str]:
    """Return the files generated for our own methods, for both sides, by path relative to `protocol`."""
    schema = json.loads((protocol / OWN_SCHEMA).read_bytes())
    return {
        "hermes_protocol/own.py": render_python(schema),
        "../vscode-extension/src/acp/own.ts": render_typescript(schema),
    }


def _render_all(protocol: Path) -> list[tuple[str, str, str]]:
    """Return the path, schema and text of every generated file."""
    versions = [
        (path, version.full.schema, text)
        for version in VERSIONS
        for path, text in render_version(version, protocol).items()
    ]
    return [*versions, *((path, OWN_SCHEMA, text) for path, text in render_own(protocol).items())]


def _read(source: Source, protocol: Path) -> Protocol:
    return SchemaReader(json.loads((protocol / source.schema).read_bytes())).read()


def find_differences(protocol: Path) -> list[str]:
    """Describe how committed files differ from the output for the pinned schemas."""
    found: list[str] = []
    for source in SOURCES:
        pin = load_pin(source, protocol)
        if sha256_of((protocol / source.schema).read_bytes()) != pin.schema_sha256:
            found.append(f"{source.schema} is not the file that PINNED.json describes; pin the package again")
    for path, schema, text in _render_all(protocol):
        target = protocol / path
        if not target.exists():
            found.append(f"{path} is missing; run python protocol/generate.py")
        elif target.read_text(encoding="utf-8") != text:
            found.append(f"{path} differs from the output for {schema}; run python protocol/generate.py")
    return found


def write_versions(protocol: Path) -> list[str]:
    """Write every generated file and return their paths."""
    written: list[str] = []
    for path, _, text in _render_all(protocol):
        (protocol / path).write_text(text, encoding="utf-8")
        written.append(path)
    return written


def main() -> int:
    """Run the command line and return the exit code."""
    parser = argparse.ArgumentParser(
        description="Generate the protocol's Python code from its pinned schemas."
    )
    parser.add_argument(
        "--pin", metavar="PACKAGE", type=Path, help="folder of the unpacked npm package to pin"
    )
    parser.add_argument("--check", action="store_true", help="fail if a committed file is out of date")
    options = parser.parse_args()
    if options.pin:
        pin_package(options.pin, PROTOCOL)
        print("pinned", ", ".join(source.schema for source in SOURCES))
        return 0
    if options.check:
        differences = find_differences(PROTOCOL)
        for difference in differences:
            print(difference)
        return 1 if differences else 0
    print("wrote", ", ".join(write_versions(PROTOCOL)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
