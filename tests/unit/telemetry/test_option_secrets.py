"""Passwords in command-line options, and secrets recognised by their suffix."""

import pytest

from hermes_acp.telemetry.redaction import Redactor

SECRET = "hunter2Xq9"


@pytest.mark.parametrize(
    "line",
    [
        f"$ mysql -u root -p{SECRET} shop",
        f"mysqldump --host db -p'{SECRET}' shop > dump.sql",
        f"sshpass -p {SECRET} ssh host",
        f"curl -u ada:{SECRET} https://example.com",
        f"+ curl -sS --user 'ada:{SECRET}' https://example.com",
        f"curl --proxy-user=ada:{SECRET} https://example.com",
    ],
)
def test_the_password_in_an_option_is_masked(line: str) -> None:
    masked = Redactor(()).clean(line)
    assert SECRET not in masked
    stream = Redactor(()).stream()
    assert "".join(stream.feed(letter) for letter in line) + stream.finish() == masked


@pytest.mark.parametrize(
    "line",
    [
        "origin\thttps://{}@github.com/o/r.git (fetch)",
        "remote.origin.url=https://{}@github.com/o/r.git",
        "url.https://{}@github.com/.insteadof=https://github.com/",
        "GOPROXY='https://{}@proxy.example.com,direct'",
        "global.index-url='https://me:{}@pypi.example.com/simple'",
        "sendemail.smtppass={}",
        "//registry.example.com/:_authToken={}",
        'registry = "https://me:{}@npm.example.com/"',
    ],
)
def test_secrets_in_the_settings_output_of_tools_are_masked(line: str) -> None:
    secret = "q7Rw2ZxT9bKd4LmN8vYc3"
    masked = Redactor(()).clean(line.format(secret))
    assert secret not in masked
    assert masked.startswith(line.partition("{}")[0])


@pytest.mark.parametrize(
    "line",
    [
        "https://anna@bitbucket.org/o/r.git",
        "https://anorganizationwithalongname@dev.azure.com/o/_git/r",
        "ssh://git@github.com/o/r.git",
        "https://12345678901234567890123@example.com",
        "https://an-organization-of-2024@dev.azure.com/o/_git/r",
    ],
)
def test_a_user_name_in_an_address_is_kept(line: str) -> None:
    assert Redactor(()).clean(line) == line


@pytest.mark.parametrize(
    "line",
    [
        "mkdir -p some/folder/deep",
        "mysql -u root -p shop",
        "curl -u $USER:$PASSWORD https://example.com",
        "docker run -p 8080:8080 -u 1000:1000 image",
        "python -u script.py:main",
        "cp -pr mysql/folder other",
    ],
)
def test_other_options_are_kept(line: str) -> None:
    assert Redactor(()).clean(line) == line


def test_secrets_recognised_by_their_suffix() -> None:
    key = "0123456789abcdef" * 2 + "-us21"
    assert key not in Redactor(()).clean(f"key {key}, and")
    assert "-us2" not in Redactor(()).clean(f"see {key}")
    plain = "0123456789abcdef" * 2 + "-user"
    assert Redactor(()).clean(plain) == plain


def test_full_width_letters_are_recognised() -> None:
    secret = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vX7"
    wide = "".join(f"\\x{ord(letter):02x}\\x00" for letter in secret)
    assert wide not in Redactor(()).clean(f"data = '{wide}'")


def test_lists_of_hashes_are_kept_and_wrapped_tokens_are_not() -> None:
    hashes = "".join(f"{number:040x}\n" for number in range(10**40, 10**40 + 50))
    assert Redactor(()).clean(hashes) == hashes
    secret = "sk-ant-api03-" + "aB3dE5gH7jK9mN1pQ3sT5vX7" * 4
    broken = f"{secret[:40]}\n{secret[40:80]}\n{secret[80:]}\n"
    assert secret[45:75] not in Redactor(()).clean(broken)
