"""Globs with the rules of ignore files, plus braces."""

import pytest

from hermes_acp.core.errors import BadRequest
from hermes_acp.workspaces.globs import Glob, expand_braces


@pytest.mark.parametrize(
    ("glob", "path", "covers"),
    [
        ("*.py", "a.py", True),
        ("*.py", "deep/down/a.py", True),
        ("*.py", "a.pyc", False),
        ("src/**/*.ts", "src/a.ts", True),
        ("src/**/*.ts", "src/x/y/a.ts", True),
        ("src/**/*.ts", "lib/src/a.ts", False),
        ("*.{ts,tsx}", "x/a.tsx", True),
        ("*.{ts,tsx}", "x/a.js", False),
        ("./docs/*.md", "docs/a.md", True),
        ("{a,b{c,d}}.txt", "bd.txt", True),
        ("{a,b{c,d}}.txt", "b.txt", False),
    ],
)
def test_a_glob_matches_the_expected_paths(glob: str, path: str, covers: bool) -> None:
    assert Glob(glob).covers(path) is covers


def test_too_many_alternatives_are_rejected() -> None:
    with pytest.raises(BadRequest):
        expand_braces("{a,b,c,d}" * 5)
