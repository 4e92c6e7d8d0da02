"""Secrets of every kind that are spelled another way, whole and in pieces, and what only looks as if it were."""

import base64
import json
import random
from collections.abc import Callable
from urllib.parse import quote

import pytest

from hermes_acp.telemetry.redaction import Redactor
from tests.unit.telemetry import secret_samples as samples

CLEAN = Redactor(()).clean
SECRETS = [secret for _, secret in samples.tokens(random.Random(11))]
SPELLINGS: dict[str, Callable[[str], str]] = {
    "base64": lambda secret: base64.b64encode(secret.encode()).decode(),
    "base64 of a file": lambda secret: base64.b64encode(f"# keys\nA=1\nTOKEN={secret}\n".encode()).decode(),
    "base64 for URLs": lambda secret: base64.urlsafe_b64encode(json.dumps({"k": secret}).encode()).decode(),
    "hexadecimal": lambda secret: secret.encode().hex(),
    "percent signs": lambda secret: "".join(f"%{byte:02X}" for byte in secret.encode()),
    "a query": lambda secret: f"https://x.example/a?k={quote(secret, safe='')}&b=1",
    "json in json": lambda secret: json.dumps({"a": json.dumps({"k": secret})}),
    "colours": lambda secret: f"\x1b[32m{secret[:9]}\x1b[0m\x1b[1;4m{secret[9:]}\x1b[0m",
    "a traceback": lambda secret: (
        f'  File "a.py", line 3, in f\n    connect("{secret}")\nKeyError: {secret!r}\n'
    ),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_no_spelling_hides_a_secret(spelling: str) -> None:
    spell = SPELLINGS[spelling]
    missed = [secret for secret in SECRETS if "[secret: " not in CLEAN(f"said {spell(secret)} here\n")]
    assert len(missed) <= len(SECRETS) * 0.05, missed


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_in_pieces_as_in_the_whole(spelling: str) -> None:
    dice = random.Random(5)
    for secret in dice.sample(SECRETS, 6):
        text = f"said {SPELLINGS[spelling](secret)} here\n"
        whole = CLEAN(text)
        for size in (1, 3, 7, 20):
            stream = Redactor(()).stream()
            pieces = [stream.feed(text[at : at + size]) for at in range(0, len(text), size)]
            assert "".join((*pieces, stream.finish())) == whole


def test_what_only_looks_encoded_stays() -> None:
    texts = (
        base64.b64encode(b"a plain text without any secret in it, of some length").decode(),
        base64.b64encode(bytes(range(256))).decode(),
        b"only words, nothing to hide here at all".hex(),
        "https://x.example/a%20b?c=%E2%82%AC&d=a%2Fb",
        "/usr/lib/python3/dist-packages/somewhere/IncludedFiles/JustSomeNames",
    )
    for text in texts:
        assert CLEAN(text) == text
