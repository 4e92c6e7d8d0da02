"""The fast check before a scan never misses a secret that the scan would find."""

import random

import pytest

from hermes_acp.telemetry.secret_files import secret_in
from hermes_acp.telemetry.secret_scan import KnownSecrets, may_hold_secrets, scan
from tests.unit.telemetry import secret_samples as samples

TOKENS = [token for seed in range(5) for _, token in samples.tokens(random.Random(seed))]
TEXTS = (
    *TOKENS,
    *(f"NAME={token}\n# Größe: 1\u00a0m\n" for token in TOKENS),
    samples.key_block(random.Random(1)),
    "password: hunter2-and-more",
    "url = https://me:hunter22secret@example.org/",
    "mysql -phunter2secret db",
)


@pytest.mark.parametrize("text", TEXTS)
def test_the_check_never_misses_a_finding_of_the_scan(text: str) -> None:
    if scan(text, 0, KnownSecrets(), is_final=True).spans:
        assert may_hold_secrets(text.encode())


def test_plain_settings_need_no_scan() -> None:
    assert not may_hold_secrets(b"width = 80\nname = blue\n")


@pytest.mark.parametrize("misses", range(4))
def test_settings_may_have_a_few_other_lines(misses: int) -> None:
    other = "this is a sentence without any value\n" * misses
    lines = "width = 80\n" * (20 - misses) + other + f"token = {TOKENS[0]}\n"
    assert bool(secret_in(lines.encode())) == (misses <= 2)
