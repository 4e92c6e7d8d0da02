"""Every relative link and anchor in the documentation has a target; the site's navigation names every page."""

import re
import tomllib
from pathlib import Path

import pytest

from tests.architecture.sources import ROOT

DOCS = ROOT / "docs"
PAGES = (*sorted(ROOT.glob("*.md")), *sorted(DOCS.rglob("*.md")))
FENCE = re.compile(r"^(`{3,}|~{3,}).*?^\1`*$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#{1,6} +(.+?) *$", re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as code hosts generate them."""
    found: set[str] = set()
    for heading in HEADING.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        anchor = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
        taken = sum(
            each == anchor or re.fullmatch(rf"{re.escape(anchor)}-\d+", each) is not None for each in found
        )
        found.add(f"{anchor}-{taken}" if taken else anchor)
    return found


def links(page: Path) -> list[str]:
    prose = CODE.sub("`code`", FENCE.sub("", page.read_text(encoding="utf-8")))
    return [link for link in LINK.findall(prose) if not re.match(r"[a-z][a-z+.-]*:", link)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_relative_link_has_a_target(page: Path) -> None:
    broken: list[str] = []
    for link in links(page):
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


def test_pages_outside_the_site_are_not_linked_from_it() -> None:
    outside = [
        f"{page.relative_to(ROOT)}: {link}"
        for page in PAGES
        if page.is_relative_to(DOCS)
        for link in links(page)
        if ".md" in link and not (page.parent / link).resolve().is_relative_to(DOCS)
    ]
    assert outside == []


def test_the_navigation_names_every_page() -> None:
    site = (DOCS / "site" / "zensical.toml").read_text(encoding="utf-8")
    assert tomllib.loads(site)["project"]["nav"]
    named = re.findall(r'"([^"]+\.md)"', site)
    assert sorted(named) == sorted(page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md"))
