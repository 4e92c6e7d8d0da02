"""Recognise the names of form fields that ask for secrets.

Source: Model Context Protocol 2025-11-25, elicitation: servers must not ask for sensitive information in a form.
"""

import re
from typing import Final

_WORDS: Final = re.compile(
    r"\bpass ?(?:word|phrase|code|wd)s?\b|\bpwd\b|\bsecrets?\b(?! santa)|\bcredentials?\b|\bpin(?: code\b|\s*$)"
    r"|\b(?:api|access|private|secret|encryption|signing|ssh|master) ?keys?\b"
    r"|\b(?:access|api|auth|authentication|bearer|refresh|session|personal|security|bot|github|gitlab|oauth) tokens?\b"
    r"|\btoken\s*$|\b(?:one[ -]time|verification|recovery|backup|2fa|mfa) codes?\b|\botp\b"
    r"|\b(?:seed|recovery) phrases?\b|\bmnemonic\b|\b(?:credit|debit) cards?\b|\bcard numbers?\b|\bcv[vc]2?\b"
    r"|\bpasswort\b|\bkennwort\b|\bcontrase(?:ñ|n)a\b|\bmot de passe\b|\bsenha\b"
    r"|\b\u043f\u0430\u0440\u043e\u043b|密码|密碼|パスワード|비밀번호",  # the first alternative is Russian
    re.IGNORECASE,
)
_SEAMS: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_\-.]+")


def is_secret_field(words: str) -> bool:
    """Return whether a field with this name or title asks for a password, key, code or card number."""
    return bool(_WORDS.search(_SEAMS.sub(" ", words)))
