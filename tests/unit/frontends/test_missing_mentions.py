"""Detection of missing files among the words after an @."""

from pathlib import Path

import pytest

from hermes_acp.frontends.chat.input.missing_mentions import missing_mention


@pytest.fixture
def project(tmp_path: Path) -> str:
    for name in ("Makefile", "README.md", "src/missing_parts.py", "src/cart.py", "types/index.d.ts"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    return str(tmp_path)


@pytest.mark.parametrize(
    ("prompt", "name"),
    [
        ("@src/a.py", "src/a.py"),
        ("see @nope.txt.", "nope.txt"),
        ("look @missing", "missing"),
        ("look at @READM", "READM"),
        ("@Makefil", "Makefil"),
        ("why is @carts wrong?", "carts"),
        ("read @src/cart", "src/cart"),
        ("read @src/nothing", "src/nothing"),
        ("read @./nothing", "./nothing"),
        ("read @~/nothing-at-all", "~/nothing-at-all"),
        ("(see @Dockerfile)", "Dockerfile"),
        ("what does @.env say", ".env"),
        ("@shot.png what is wrong here", "shot.png"),
        ("compare @README.md with @READNE.md", "READNE.md"),
    ],
)
def test_a_mention_of_a_missing_file_is_found(prompt: str, name: str, project: str) -> None:
    assert missing_mention(prompt, project) == name


@pytest.mark.parametrize(
    "prompt",
    [
        "@Makefile @README.md @src @src/ @src/cart.py:3",
        "mail a@b.de or me@missing.py",
        "@property @dataclass @staticmethod @Override @Test",
        "use @pytest.fixture, @pytest.mark.slow, @app.get and @x.setter",
        '@app.route("/missing") and @lru_cache(maxsize=1)',
        "npm i @types/node @types/react @angular/core @testing-library/react @scope/pkg@1.2.3",
        "import x from '@/components/x'",
        "@media print and @keyframes",
        "ask @alice or @bob-smith",
        "@cart\ndef total(): ...",
        "look @nothingofthekind",
        "@ alone",
    ],
)
def test_a_word_that_can_be_something_else_is_not_a_missing_file(prompt: str, project: str) -> None:
    assert missing_mention(prompt, project) == ""
