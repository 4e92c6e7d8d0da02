"""Precompile the scanner's tables: python -m bench.ready_tables [--check].

Run this after changing rules.toml, cues.toml or languages.toml; until then, each process parses them at its first scan.
"""

import sys
from pathlib import Path

from injection_scanner.classification.cues import make_cues
from injection_scanner.rules.language_tables import build_language_table
from injection_scanner.rules.scanner_rules import build_scan_rules
from injection_scanner.tables.compiled_tables import FOLDER, compile_table

TABLES = (("rules", build_scan_rules), ("cues", make_cues), ("languages", build_language_table))


def main() -> int:
    """Write the tables that have changed; with --check, only report them."""
    stale: list[str] = []
    for name, make in TABLES:
        file = Path(FOLDER, f"{name}.msgpack")
        ready = compile_table(name, make)
        if not file.is_file() or file.read_bytes() != ready:
            stale.append(name)
            if "--check" not in sys.argv[1:]:
                file.write_bytes(ready)
    print(f"changed: {', '.join(stale) or 'none'}")
    return 1 if stale and "--check" in sys.argv[1:] else 0


if __name__ == "__main__":
    sys.exit(main())
