"""Find secret keys in git's settings (git-config(1)), and return the settings without them.

Git needs most of its settings to work at all, so a file that contains keys is shown with those values masked rather
than hidden.
"""

import os
import re
from collections.abc import Iterator, Mapping
from typing import Final

from hermes_acp.lazy_pattern import LazyPattern
from hermes_acp.telemetry.secret_scan import KnownSecrets, scan

MASK: Final = "***"
HIDDEN_SETTING: Final = "hermes-acp.hidden"
"""A setting name without meaning to git, which replaces a setting that contains a key."""
_SECRET_NAME: Final = LazyPattern(
    r"extraheader|passw|passphrase|^smtppass$|^pass$|token|secret|oauth|api-?key|authorization|cookie$",
    re.IGNORECASE,
)
_PUBLIC_NAME: Final = LazyPattern(r"signingkey", re.IGNORECASE)
_KEY_OPTION: Final = LazyPattern(r"passw|token|secret|authorization|bearer|api[-_]?key", re.IGNORECASE)
_ASSIGNMENT: Final = LazyPattern(
    r"(?P<name>(?:^|\])[^\S\n]*(?P<key>[A-Za-z][\w-]*)[^\S\n]*=)[^\S\n]*(?P<value>(?:\\\r?\n|[^\n])*)",
    re.MULTILINE,
)
_IN_ADDRESS: Final = LazyPattern(r"(?P<scheme>\b[A-Za-z][A-Za-z0-9+-]*://)(?P<who>[^/\s@\"]+)@")
_PLAIN_USER: Final = LazyPattern(r"git|[a-z_][\w.-]{0,31}", re.IGNORECASE)
_INCLUDED: Final = LazyPattern(
    r"^[^\S\n]*\[include(?:if\s[^\]\n]*)?\](?P<body>[^\[]*)", re.MULTILINE | re.IGNORECASE
)
_PATH: Final = LazyPattern(
    r"^[^\S\n]*path[^\S\n]*=[^\S\n]*\"?(?P<path>[^\"\n;#]+)", re.MULTILINE | re.IGNORECASE
)
_VALUE_VARIABLE: Final = LazyPattern(r"GIT_CONFIG_VALUE_(\d+)")


def masked_settings(text: str) -> str:
    """Return a configuration with its secret keys masked; it is unchanged if there are none."""
    masked = _ASSIGNMENT.compiled.sub(_masked_assignment, text)
    masked = _IN_ADDRESS.compiled.sub(_masked_address, masked)
    for start, end, _ in reversed(scan(masked, 0, KnownSecrets(), is_final=True).spans):
        line = masked[masked.rfind("\n", 0, start) + 1 : start]
        if not _PUBLIC_NAME.compiled.search(line):
            masked = f"{masked[:start]}{MASK}{masked[end:]}"
    return masked


def _masked_assignment(found: re.Match[str]) -> str:
    name, value = found["name"], found["value"]
    is_secret = bool(_SECRET_NAME.compiled.search(found["key"])) or bool(
        value.lstrip('" \t').startswith("!") and _KEY_OPTION.compiled.search(value)
    )
    return f"{name} {MASK}" if is_secret and value.strip() else found[0]


def _masked_address(found: re.Match[str]) -> str:
    """Mask the secrets in a URL. An SSH user name is not a secret; over HTTP, the user name may be a token."""
    is_web = found["scheme"].lower().startswith(("http", "ftp"))
    who = found["who"]
    return found[0] if not is_web and _PLAIN_USER.compiled.fullmatch(who) else f"{found['scheme']}{MASK}@"


def included_files(text: str, path: str, home: str) -> Iterator[str]:
    """Yield the absolute paths of the files that a configuration at `path` includes; conditions count as met."""
    for section in _INCLUDED.compiled.finditer(text):
        for found in _PATH.compiled.finditer(section["body"]):
            named = found["path"].strip()
            if named.startswith("~/"):
                named = f"{home}{named[1:]}"
            yield os.path.normpath(os.path.join(os.path.dirname(path), named))


def without_key_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """Return variables whose git settings (`GIT_CONFIG_*`) contain no secret keys; others keep their numbers."""
    kept = dict(environment)
    for name, value in environment.items():
        if found := _VALUE_VARIABLE.compiled.fullmatch(name):
            of_key = f"GIT_CONFIG_KEY_{found[1]}"
            key = environment.get(of_key, "")
            line = f"{key.rpartition('.')[2]} = {value}"
            if masked_settings(line) != line or masked_settings(key) != key:
                kept |= {of_key: HIDDEN_SETTING, name: MASK}
    parameters = environment.get("GIT_CONFIG_PARAMETERS", "")
    if _KEY_OPTION.compiled.search(parameters) or masked_settings(parameters) != parameters:
        kept.pop("GIT_CONFIG_PARAMETERS", None)
    return kept
