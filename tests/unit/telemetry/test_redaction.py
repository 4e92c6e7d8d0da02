"""Known secrets are masked in every text."""

from hermes_acp.telemetry.redaction import Redactor, secrets_among
from hermes_acp.telemetry.secret_masks import MASK


def test_known_values_are_removed_wherever_they_are() -> None:
    redactor = Redactor(["sk-canary-123456", "sk-canary-123456-longer", "short"])
    text = "a=sk-canary-123456-longer b=sk-canary-123456;short"
    assert redactor.clean(text) == f"a={MASK} b={MASK};short"


def test_without_secrets_nothing_changes() -> None:
    assert Redactor(["", "1234567"]).clean("1234567 and all") == "1234567 and all"


def test_secrets_are_recognised_by_the_names_of_their_variables() -> None:
    variables = {"OPENAI_API_KEY": "one", "GH_TOKEN": "two", "db_password": "three", "PATH": "four"}
    assert secrets_among(variables) == ("one", "two", "three")
