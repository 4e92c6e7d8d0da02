"""Collect benign files for training the scanner: python -m bench.collect_honest OUT CORPUS FOLDER...

Each FOLDER is a git repository (bare or not) in a folder named `OWNER+NAME`, or directly inside one. The agent
instruction files of its newest commit are written to OUT, one JSON object per line: id, kind, source, text. Files that
share text with the benign files in CORPUS are left out, so that cross-validation by repository stays valid.
`bench.train_scanner --honest OUT` trains on them; `weights.LICENCE.md` names the repositories and their licences. The
repositories of `--security` discuss attacks, so they are used for training but not for setting the thresholds.
"""

import argparse
import json
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

from bench.scanner_learning import load

MAX_FILES = 500
MAX_BYTES = 120_000
ENDINGS = (".md", ".mdc", ".mdx", ".cursorrules", ".windsurfrules")
LONG_LINE = 60
MANY_SHARED = 3
"""A file that shares this many long lines with the corpus counts as a copy."""

SKIPPED = ("license", "changelog", "code_of_conduct", "node_modules/")


def files_of(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the path and text of up to `MAX_FILES` files of a repository, the same ones each time."""
    listed = _git(folder, "ls-tree", "-r", "--name-only", "-z", "HEAD").decode("utf-8", "replace").split("\0")
    paths = [path for path in listed if path.casefold().endswith(ENDINGS)]
    paths = [path for path in paths if not any(word in path.casefold() for word in SKIPPED)]
    random.Random(crc32(_name(folder).encode())).shuffle(paths)
    taken = 0
    for path in paths:
        content = _git(folder, "show", f"HEAD:{path}")
        if 200 <= len(content) <= MAX_BYTES:
            yield path, content.decode("utf-8", "replace")
            taken += 1
        if taken == MAX_FILES:
            return


def long_lines(text: str) -> set[str]:
    return {line.strip() for line in text.split("\n") if len(line.strip()) > LONG_LINE}


def _git(folder: Path, *arguments: str) -> bytes:
    return subprocess.run(["git", "-C", folder, *arguments], capture_output=True, check=True).stdout


def _name(folder: Path) -> str:
    named = next((part for part in (folder.name, folder.parent.name) if "+" in part), folder.name)
    return named.replace("+", "/", 1)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--security", nargs="*", default=[], metavar="OWNER/NAME")
    options = parser.parse_args()
    known = {line for row in load(options.corpus, "benign.dev.jsonl") for line in long_lines(row["text"])}
    seen: set[str] = set()
    rows: list[str] = []
    for folder in sorted(options.folders, key=_name):
        commit = _git(folder, "rev-parse", "HEAD").decode().strip()[:12]
        for path, text in files_of(folder):
            if text in seen or len(known & long_lines(text)) >= MANY_SHARED:
                continue
            seen.add(text)
            source = f"{_name(folder)}@{commit}:{path}"
            kind = "security-doc" if _name(folder) in options.security else "more"
            rows.append(json.dumps({"id": source, "kind": kind, "source": source, "text": text}))
    options.out.write_text("\n".join(rows) + "\n", "utf-8")
    print(f"{len(rows)} files from {len(options.folders)} repositories")


if __name__ == "__main__":
    main()
