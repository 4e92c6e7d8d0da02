"""Build the documentation site into `build/site/html`: `make docs`.

Zensical needs its configuration above the pages and the output beside it, so the pages are copied first. Files outside
`docs/` that a page links to are copied to `files/`, so that the site works without the repository.
"""

import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
STAGE = ROOT / "build" / "site"
PAGES = STAGE / "pages"
SHIM = "https://unpkg.com/iframe-worker/shim"
"""What the offline search would load from another server; the site gets a copy from the npm registry instead."""
PACKAGE = "iframe-worker@1.0.4"
SCRIPT = "iframe-worker.js"
LINK = re.compile(r"\]\((?P<target>[^)#:\s]+)(?P<anchor>#[^)\s]*)?\)")


def main() -> int:
    """Copy the pages and run the generator in strict mode; return its exit code."""
    shutil.rmtree(STAGE, ignore_errors=True)
    docs = ROOT / "docs"
    shutil.copytree(
        docs, PAGES, ignore=shutil.ignore_patterns("*.py", "site", "reference_pages", "__pycache__")
    )
    shutil.copyfile(docs / "site" / "zensical.toml", STAGE / "zensical.toml")
    _fetch_script(PAGES / SCRIPT)
    for page in PAGES.rglob("*.md"):
        _move_links_inside(page)
    command = [Path(sys.executable).with_name("zensical"), "build", "--clean", "--strict"]
    code = subprocess.run(command, cwd=STAGE, check=False).returncode
    for html in (STAGE / "html").rglob("*.html"):
        local = "../" * len(html.relative_to(STAGE / "html").parent.parts) + SCRIPT
        html.write_text(html.read_text(encoding="utf-8").replace(SHIM, local), encoding="utf-8")
    return code


def _fetch_script(path: Path) -> None:
    """Write the search's script to `path`. Raises CalledProcessError if npm cannot fetch it."""
    packing = ("npm", "pack", "--silent", PACKAGE, "--pack-destination", STAGE)
    name = subprocess.run(packing, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    with tarfile.open(STAGE / name) as package:
        script = package.extractfile("package/shim/index.js")
        assert script, "the package has this file"
        path.write_bytes(script.read())


def _move_links_inside(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    page.write_text(LINK.sub(lambda link: _inside(link, page), text), encoding="utf-8")


def _inside(link: re.Match[str], page: Path) -> str:
    """Return the link; copy its target into the site if it is outside `docs/`."""
    original = ROOT / "docs" / page.relative_to(PAGES).parent / link["target"]
    target = original.resolve()
    if target.is_relative_to(ROOT / "docs") or not target.is_file():
        return link[0]
    copy = PAGES / "files" / target.relative_to(ROOT)
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(target, copy)
    return f"]({'../' * len(page.relative_to(PAGES).parent.parts)}{copy.relative_to(PAGES)})"


if __name__ == "__main__":
    sys.exit(main())
