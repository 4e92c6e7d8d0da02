"""Detection of form fields that ask for a secret."""

import pytest

from hermes_acp.core.secret_fields import is_secret_field


@pytest.mark.parametrize(
    "words",
    ["password", "Your GitHub password", "dbPassword", "api_key", "apiKey", "API-Key", "OPENAI_API_KEY", "accessToken",
     "token", "github_token", "private key", "client_secret", "Passphrase", "PIN", "One-time code", "cvc",
     "Card number", "seed phrase", "Passwort", "Contraseña", "пароль", "密码", "パスワード", "credentials"],
)  # fmt: skip
def test_secrets_are_recognised_by_their_names(words: str) -> None:
    assert is_secret_field(words)


@pytest.mark.parametrize(
    "words",
    ["name", "max_tokens", "token count", "Number of tokens to keep", "keyboard", "key", "primary_key", "sort key",
     "pinned", "pin a message", "spinner", "secretary", "passenger", "compass", "country code", "postal code",
     "exit code",
     "shipping address", "size", "a public key", "cardinality", "discard"],
)  # fmt: skip
def test_ordinary_fields_are_not_secrets(words: str) -> None:
    assert not is_secret_field(words)
