"""Secrets of every kind in other spellings, whole and in parts, and texts that only look like secrets."""

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


def broken(text: str, width: int) -> str:
    """Wrap a text as terminals and mail do."""
    return "\r\n".join(text[at : at + width] for at in range(0, len(text), width))


SPELLINGS: dict[str, Callable[[str], str]] = {
    "base64": lambda secret: base64.b64encode(secret.encode()).decode(),
    "base64 of a file": lambda secret: base64.b64encode(f"# keys\nA=1\nTOKEN={secret}\n".encode()).decode(),
    "base64 for URLs": lambda secret: base64.urlsafe_b64encode(json.dumps({"k": secret}).encode()).decode(),
    "hexadecimal": lambda secret: secret.encode().hex(),
    "percent signs": lambda secret: "".join(f"%{byte:02X}" for byte in secret.encode()),
    "a query": lambda secret: f"https://x.example/a?k={quote(secret, safe='')}&b=1",
    "json in json": lambda secret: json.dumps({"a": json.dumps({"k": secret})}),
    "colours": lambda secret: f"\x1b[32m{secret[:9]}\x1b[0m\x1b[1;4m{secret[9:]}\x1b[0m",
    "escapes of JSON": lambda secret: "".join(f"\\u{ord(each):04x}" for each in secret),
    "escapes in escapes": lambda secret: "".join(f"\\\\u{ord(each):04X}" for each in secret),
    "escapes of bytes": lambda secret: "".join(f"\\x{ord(each):02x}" for each in secret),
    "octal escapes": lambda secret: "".join(f"\\{ord(each):03o}" for each in secret),
    "some escapes": lambda secret: (
        secret[:5] + "".join(f"\\u{ord(each):04x}" for each in secret[5:9]) + secret[9:]
    ),
    "backwards": lambda secret: secret[::-1],
    "hidden characters": lambda secret: "\u200b".join((secret[:6], secret[6:11], secret[11:])),
    "two bytes a character": lambda secret: "\0".join(secret),
    "a line that is broken": lambda secret: broken(f"value_{'of_the_day_' * 3}= {secret}", 58),
    "a line that is continued": lambda secret: f"{'of the day ' * 3}{secret[:-5]}\\\n{secret[-5:]}",
    "base64 in lines": lambda secret: base64.encodebytes(f"# keys\nTOKEN = {secret}\n".encode()).decode(),
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
def test_parts_are_masked_like_the_whole(spelling: str) -> None:
    dice = random.Random(5)
    for secret in dice.sample(SECRETS, 6):
        text = f"said {SPELLINGS[spelling](secret)} here\n"
        whole = CLEAN(text)
        for size in (1, 3, 7, 20):
            stream = Redactor(()).stream()
            pieces = [stream.feed(text[at : at + size]) for at in range(0, len(text), size)]
            assert "".join((*pieces, stream.finish())) == whole


def test_a_private_key_in_another_spelling_is_masked() -> None:
    dashes = samples.DASHES
    key = f"{dashes}BEGIN RSA PRIVATE KEY{dashes}\n{'MIIEpAIBAAKCAQEA7bq' * 4}\n{dashes}END RSA PRIVATE KEY{dashes}\n"
    for name in ("hexadecimal", "percent signs", "escapes of JSON", "base64", "base64 for URLs"):
        assert "MIIE" not in CLEAN(key)
        assert "private key]" in CLEAN(f"said {SPELLINGS[name](key)} here\n"), name


def test_nothing_of_a_wrapped_secret_remains() -> None:
    for secret in SECRETS:
        text = broken(f"{'of the day ' * 3}{secret}", 50)
        cleaned = CLEAN(text + "\nand so on\n")
        pieces = [piece for piece in text.split("\r\n") if len(piece) > 12 and " " not in piece]
        assert "[secret: " not in cleaned or not [piece for piece in pieces if piece in cleaned]
        assert cleaned.endswith("\nand so on\n")


def test_the_line_after_a_secret_is_kept() -> None:
    for secret in SECRETS[:40]:
        for behind in ("MODE=fast", "next_line of words", "DB_HOST2=10.0.0.1", "Finished", "someName()"):
            cleaned = CLEAN(f"export THE_VALUE_OF_IT={secret}\n{behind}\n")
            assert cleaned.endswith(f"]\n{behind}\n"), (secret, behind, cleaned)


def test_adjacent_lines_are_not_joined() -> None:
    texts = (
        f"{'0123456789abcdef' * 3}\n{'fedcba9876543210' * 3}\n",
        "a line of words that is rather long and ends somewhere_in_a_name\nand_goes_on_here with more\n",
        "token_of_the_reader_of_these_many_lines\npassword_of_nobody_at_all_to_be_seen = 5\n",
    )
    for text in texts:
        assert CLEAN(text) == text


def test_text_that_only_looks_encoded_is_kept() -> None:
    texts = (
        "C:\\users\\xavier\\u1234\\x41\\readme\\some\\more\\folders.txt",
        "\\u4f60\\u597d\\u4e16\\u754c\\u4f60\\u597d\\u4e16\\u754c",
        base64.b64encode(b"a plain text without any secret in it, of some length").decode(),
        base64.b64encode(bytes(range(256))).decode(),
        b"only words, nothing to hide here at all".hex(),
        "https://x.example/a%20b?c=%E2%82%AC&d=a%2Fb",
        "/usr/lib/python3/dist-packages/somewhere/IncludedFiles/JustSomeNames",
    )
    for text in texts:
        assert CLEAN(text) == text
