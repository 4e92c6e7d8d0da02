"""Keeping secrets out of what is shown, recorded and sent to a model.

Knows: the values that must not appear. Does not know: where text comes from. This catches the secrets this process
itself was given, wherever a command's output or a file brings them back; it is no search for secrets in general.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final

SECRET_NAME: Final = re.compile("KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
SHORTEST: Final = 8
MASK: Final = "[secret removed]"


class Redactor:
    """Replaces known secrets in any text."""

    def __init__(self, secrets: Iterable[str]) -> None:
        known = sorted({secret for secret in secrets if len(secret) >= SHORTEST}, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, known))) if known else None

    def clean(self, text: str) -> str:
        """Give the text without any of them."""
        return self._pattern.sub(MASK, text) if self._pattern else text


def secrets_among(variables: Mapping[str, str]) -> tuple[str, ...]:
    """Give the values of the variables whose names say that they are secret."""
    return tuple(value for name, value in variables.items() if SECRET_NAME.search(name))
