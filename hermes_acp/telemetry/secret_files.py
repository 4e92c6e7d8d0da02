"""Decide by content whether the purpose of a file is to store keys: a private key, a key store, settings with keys.

A program, page or test that merely contains a key does not count: its keys are masked when shown, and it is read
like any other file.
"""

import re
from typing import Final

from hermes_acp.telemetry.private_keys import is_private_key
from hermes_acp.telemetry.secret_scan import KnownSecrets, may_hold_secrets, scan

MAX_BYTES: Final = 64 * 1024
"""The maximum size of a checked file, because key files are small."""
SAMPLE_LINES: Final = 12
MAX_LINE: Final = 8_000
MIN_SETTINGS: Final = 0.9
MIN_KEY: Final = 0.5
# Java key stores and KeePass databases begin with these bytes.
STORES: Final = (b"\xfe\xed\xfe\xed", b"\xce\xce\xce\xce", b"\x03\xd9\xa2\x9a")
_ANNOUNCEMENT: Final = b"PRIVATE KEY"
_KEY_BLOCK: Final = re.compile(
    r"^-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----$.*?^-----END ", re.MULTILINE | re.DOTALL
)
_EMPTY: Final = re.compile(r"\s*(?:[#;]|//|--|/?\*|$)")
_SETTING: Final = re.compile(
    r"""\s*(?:export\s+|set\s+|setx\s+|-\s+|[{\[]\s*)?["']?[A-Za-z_][\w./@-]{0,80}["']?\s*[:=]"""
    r"""|\s*[{}\[\],]{1,4}\s*$|\s*\[[^\]]{1,120}\]\s*$|\s*---\s*$"""
    r"""|\s*["'-][^:=]{0,400},?\s*$|\s*machine\s+\S+"""
)


def secret_in(content: bytes) -> str:
    """Return the kind of secret that a whole file represents, or an empty string if none or above `MAX_BYTES`."""
    if len(content) > MAX_BYTES or not content:
        return ""
    if content.startswith(STORES):
        return "a store of keys"
    if b"\0" in content:
        return ""
    if _ANNOUNCEMENT in content and _is_key(content.decode("utf-8", "replace")):
        return "a private key"
    head = content[:4096].decode("utf-8", "replace").splitlines()[: SAMPLE_LINES + 1]
    if not _are_settings(head[:SAMPLE_LINES]) or not may_hold_secrets(content):
        return ""
    text = content.decode("utf-8", "replace")
    if not _are_settings(text.splitlines()):
        return ""
    spans = scan(text, 0, KnownSecrets(), is_final=True).spans
    # A non-ASCII word after "password" is its translation.
    return "keys" if any(text[start:end].isascii() for start, end, _ in spans) else ""


def _is_key(text: str) -> bool:
    """Return whether a string is mostly an armoured private key."""
    if not is_private_key(text):
        return False
    inside = sum(len(found[0]) for found in _KEY_BLOCK.finditer(text.replace("\r\n", "\n")))
    return inside >= MIN_KEY * len(text.strip())


def _are_settings(lines: list[str]) -> bool:
    """Return whether the lines contain little but names with values."""
    max_others = len(lines) - MIN_SETTINGS * len(lines)
    told = others = 0
    for line in lines:
        if _EMPTY.match(line):
            continue
        told += 1
        others += not _SETTING.match(line)
        if others > max_others or len(line) > MAX_LINE:
            return False
    return bool(told) and told - others >= MIN_SETTINGS * told
