"""Unknown secrets are masked, however they are split, and text that only looks like one is not."""

import random
from base64 import b64encode
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_acp.telemetry.redaction import WINDOW, Redactor, is_secret
from hermes_acp.telemetry.secret_scan import MAX_TOKEN_CHARACTERS
from hermes_acp.telemetry.token_patterns import read_token_patterns
from tests.unit.telemetry import secret_samples as samples

ROOT = Path(__file__).parents[3]
TOKENS = tuple(samples.tokens(random.Random(1)))
IN_CONTEXT = tuple(samples.in_context(random.Random(2)))
HARMLESS = tuple(samples.harmless(random.Random(3)))
SECRETS = (
    *((f"out {secret} put\n", secret) for _, secret in TOKENS),
    *((text, one) for _, one, text in IN_CONTEXT),
)
KEY = samples.key_block(random.Random(4))


def streamed(redactor: Redactor, text: str, *cuts: int) -> str:
    stream = redactor.stream()
    edges = (0, *sorted(cuts), len(text))
    given = [stream.feed(text[start:end]) for start, end in pairwise(edges)]
    return "".join(given) + stream.finish()


def test_the_table_has_many_kinds_each_with_its_source() -> None:
    shapes = read_token_patterns()
    assert len({shape.id for shape in shapes}) + len(IN_CONTEXT) >= 90
    assert all(shape.starts or shape.mark for shape in shapes)
    assert all(shape.source.startswith("https://") or (ROOT / shape.source).is_file() for shape in shapes)
    assert all("[" not in shape.id and shape.id == shape.id.lower() for shape in shapes)


@pytest.mark.parametrize(("kind", "secret"), TOKENS, ids=[f"{kind} {text[:6]}" for kind, text in TOKENS])
def test_every_kind_is_masked_with_its_name(kind: str, secret: str) -> None:
    cleaned = Redactor(()).clean(f'out "{secret}" put')
    assert secret not in cleaned
    assert cleaned.endswith('" put')
    assert f"[secret: {kind}]" in cleaned


@pytest.mark.parametrize(
    ("secret", "text"), [row[1:] for row in IN_CONTEXT], ids=[row[0] for row in IN_CONTEXT]
)
def test_secrets_revealed_by_their_context_are_masked(secret: str, text: str) -> None:
    cleaned = Redactor(()).clean(text)
    assert secret not in cleaned
    assert cleaned.startswith(text[: text.index(secret)])
    assert cleaned.endswith(text[text.index(secret) + len(secret) :])


def test_splitting_anywhere_changes_nothing() -> None:
    redactor = Redactor(())
    for text, secret in SECRETS:
        whole = redactor.clean(text)
        assert secret not in whole
        for cut in range(len(text) + 1):
            assert streamed(redactor, text, cut) == whole, (text, cut)


def test_fed_character_by_character_no_part_of_a_secret_is_emitted_early() -> None:
    redactor = Redactor(())
    for text, secret in SECRETS[::5]:
        assert streamed(redactor, text, *range(len(text))) == redactor.clean(text), secret


def test_text_that_only_looks_like_a_secret_is_kept() -> None:
    redactor = Redactor(())
    changed = [text for text in HARMLESS if redactor.clean(text) != text]
    assert changed == []


def variants_of(key: str) -> dict[str, str]:
    lines = key.split("\n")
    return {
        "plain": key,
        "numbered": "\n".join(f"{number:6}\t{line}" for number, line in enumerate(lines, 1)),
        "diff": "\n".join(f"+{line}" for line in lines),
        "found": "\n".join(f"keys/id_rsa:{number}:{line}" for number, line in enumerate(lines, 1)),
        "json": '{"private_key": "' + key.replace("\n", "\\n") + '"}',
        "indented": "\n".join(f"    {line}" for line in lines),
        "windows": key.replace("\n", "\r\n"),
        "cut off": "\n".join(lines[:5]),
        "encrypted": key.replace("\n", "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n", 1),
    }


@pytest.mark.parametrize("variant", variants_of(KEY))
@pytest.mark.parametrize(
    "kind", ["RSA PRIVATE KEY", "PRIVATE KEY", "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK"]
)
def test_private_keys_are_masked_across_lines(variant: str, kind: str) -> None:
    text = f"before\n{variants_of(KEY.replace('RSA PRIVATE KEY', kind))[variant]}\nafter\n"
    redactor = Redactor(())
    cleaned = redactor.clean(text)
    assert "[secret: private key]" in cleaned
    assert not any(line in cleaned for line in KEY.split("\n")[1:-1])
    assert cleaned.startswith("before\n")
    assert cleaned.endswith("\nafter\n")
    for cut in range(0, len(text), 7):
        assert streamed(redactor, text, cut) == cleaned


@pytest.mark.parametrize("variant", ["plain", "numbered", "diff", "found", "indented", "windows"])
@pytest.mark.parametrize("first", [3, 7, 8, 9])
def test_the_end_of_a_private_key_is_masked_without_its_beginning(variant: str, first: int) -> None:
    lines = variants_of(KEY)[variant].split("\n")[first:]
    text = "\n".join(("before", *lines, "after", ""))
    redactor = Redactor(())
    cleaned = redactor.clean(text)
    assert not any(line in cleaned for line in KEY.split("\n")[first:-1])
    assert cleaned.startswith("before\n")
    assert cleaned.endswith("-----\nafter\n")
    for cut in range(0, len(text), 7):
        assert streamed(redactor, text, cut) == cleaned


@pytest.mark.parametrize(
    "source", ['{"path": "/w/server.key"}', '{"command": "sed -n 3,6p id_rsa"}', "a.PEM"]
)
@pytest.mark.parametrize("variant", ["plain", "numbered", "windows"])
def test_the_middle_of_a_file_of_keys_is_masked(source: str, variant: str) -> None:
    text = "\n".join(variants_of(KEY)[variant].split("\n")[3:6]) + "\n"
    redactor = Redactor(())
    assert redactor.clean(text) == text
    cleaned = redactor.clean(f"server.key\n{text}3 lines more\n", source=source)
    assert not any(line in cleaned for line in KEY.split("\n")[3:6])
    assert cleaned.startswith("server.key\n")
    assert cleaned.endswith("3 lines more\n")
    assert redactor.clean(text, source='{"path": "/w/keys.py", "pattern": "id_rsa.pub"}') == text


def test_a_certificate_in_a_file_of_keys_is_kept() -> None:
    body = "\n".join(KEY.split("\n")[1:-1])
    for text in (
        f"-----BEGIN CERTIFICATE-----\n{body}\n",
        f"{body}\n-----END CERTIFICATE-----\n",
        "one two\n",
    ):
        assert Redactor(()).clean(text, source="a.pem") == text


def test_text_that_ends_no_private_key_is_kept() -> None:
    body = KEY.split("\n")[1:-1]
    for text in (
        "\n".join((*body, "-----END CERTIFICATE-----", "")),
        "\n".join((*body, "end", "")),
        "    raise ThisIsAQuiteLongNameOfAnError\n-----END RSA PRIVATE KEY-----\n",
        'x = aLongNameOfSomethingElse\nif "-----END RSA PRIVATE KEY-----" in text:\n',
    ):
        assert Redactor(()).clean(text) == text


def test_colour_codes_do_not_hide_a_secret() -> None:
    secret = TOKENS[5][1]
    text = f"\x1b[35mfile\x1b[m:\x1b[01;31m\x1b[K{secret[:7]}\x1b[m\x1b[K{secret[7:]} end\n"
    cleaned = Redactor(()).clean(text)
    assert secret[7:] not in cleaned
    assert cleaned.startswith("\x1b[35mfile\x1b[m:\x1b[01;31m")
    assert all(streamed(Redactor(()), text, cut) == cleaned for cut in range(len(text)))


def test_known_secrets_are_found_in_other_spellings() -> None:
    secret = 'kn0wn "secret"/with+all=of it'
    redactor = Redactor([secret])
    for around in ("", "a", "ab"):
        coded = b64encode(f"{around}{secret}{around}".encode()).decode()
        assert "[secret removed]" in redactor.clean(f"x {coded} y"), around
    for spelled in (
        secret,
        'kn0wn \\"secret\\"/with+all=of it',
        "kn0wn%20%22secret%22%2Fwith%2Ball%3Dof%20it",
    ):
        assert redactor.clean(f"x {spelled} y") == "x [secret removed] y"
        assert all(streamed(redactor, f"x {spelled} y", cut) == "x [secret removed] y" for cut in range(30))
    assert redactor.clean(secret.encode().hex()) == "[secret removed]"


pieces = st.one_of(
    st.sampled_from([text for text, _ in SECRETS]),
    st.sampled_from([secret for _, secret in TOKENS]),
    st.sampled_from(HARMLESS),
    st.sampled_from(
        [
            KEY,
            KEY[:300],
            KEY[200:],
            "\n",
            "\n-----END RSA PRIVATE KEY-----\n",
            "b64A" * 16 + "\n",
            f"\x1b[31m{TOKENS[7][1]}\x1b[0m",
            "the known one",
            "the kno",
            "the known two,too",
        ]
    ),
    st.text(alphabet="ab1 \n\t=:\"'-_{}\\/@.\x1b[m", max_size=20),
    st.sampled_from(["password", "token=", "://u:", "@h", "Bearer ", "-----BEGIN ", "x" * 300]),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(pieces, max_size=8).map("".join), st.data())
def test_any_split_gives_the_same_result_as_the_whole(text: str, data: st.DataObject) -> None:
    redactor = Redactor(["the known one", "the known two,too"])
    cuts = data.draw(st.lists(st.integers(0, len(text)), max_size=12))
    whole = redactor.clean(text)
    assert streamed(redactor, text, *cuts) == whole


def test_an_endless_token_is_held_back_only_so_long() -> None:
    redactor = Redactor(())
    stream = redactor.stream()
    text = "ab1" * MAX_TOKEN_CHARACTERS + " " + TOKENS[3][1] + "\n"
    longest = given_characters = 0
    for start in range(0, len(text), 1000):
        given_characters += len(stream.feed(text[start : start + 1000]))
        longest = max(longest, start + 1000 - given_characters)
    assert longest <= MAX_TOKEN_CHARACTERS + 1000
    assert streamed(redactor, text, *range(0, len(text), 1000)) == redactor.clean(text)
    assert TOKENS[3][1] not in redactor.clean(text)


def test_the_tail_never_shows_a_part_of_a_secret() -> None:
    redactor = Redactor(())
    secret = TOKENS[4][1]
    text = "".join(f"line {number} {secret}\n" for number in range(40))
    for size in range(100, 180):
        tail = redactor.tail(text, size, is_final=False)
        assert secret[-8:] not in tail
        assert len(tail) <= size
    begun = redactor.tail(f"{text}and {secret[:12]}", 200, is_final=False)
    assert begun.endswith("and ")
    assert WINDOW > MAX_TOKEN_CHARACTERS


def test_variables_are_secret_by_name_or_by_value() -> None:
    assert is_secret("GH_PAT", "whatever")
    assert is_secret("HERMES_FLEET_DATABASE", "service=fleet")
    assert is_secret("DEPLOYMENT", TOKENS[4][1])
    assert is_secret("UPSTREAM", "postgres://app:" + "s3cretw0rd@db/app")
    assert not is_secret("HTTPS_PROXY", "http://me:" + "s3cretw0rd@proxy:3128")
    assert not any(
        map(is_secret, ("PATH", "PWD", "LANG", "SSH_AUTH_SOCK"), ("/bin:/usr/bin", "/a", "C", "/tmp/agent.1"))
    )
