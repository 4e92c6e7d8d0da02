"""Detect the code page of text that is not UTF-8 and does not declare one.

A guess is accepted only if re-encoding the decoded text yields exactly the same bytes, so that unchanged passages are
preserved.
"""

import re
from collections.abc import Iterator
from types import MappingProxyType
from typing import Final

SAMPLE_BYTES: Final = 64 * 1024
SAMPLE_LEAD_BYTES: Final = 1024
FEW_RUNS: Final = 3
_RUN: Final = re.compile(rb"[\x80-\xff]+")
_WESTERN: Final = re.compile(rb"[\xa0-\xff\x80\x85\x91-\x97]+")
_LIKELY: Final = (
    "gb18030", "cp932", "euc_jp", "cp949", "big5", "cp1251", "koi8_r", "cp1253", "cp1255", "cp1252",
)  # fmt: skip
_FURTHER: Final = ("cp1250", "cp1254", "cp1256", "cp1257", "iso8859_2")
_LAST: Final = ("cp1252", "latin-1")
_FAMILIAR: Final = MappingProxyType({"cp932": "shift_jis", "cp949": "euc_kr"})


def guess_encoding(content: bytes) -> tuple[str, str]:
    """Return the most likely encoding of bytes that are not UTF-8, and the decoded text."""
    first = _RUN.search(content)
    start = max(0, first.start() - SAMPLE_LEAD_BYTES) if first else 0
    for encoding in candidate_encodings(content[start : start + SAMPLE_BYTES]):
        try:
            text = content.decode(encoding)
            is_faithful = text.encode(encoding) == content
        except (UnicodeError, LookupError):
            continue
        if is_faithful:
            return encoding, text
    return "latin-1", content.decode("latin-1")


def candidate_encodings(sample: bytes) -> Iterator[str]:
    """Yield encodings, most likely first; the last one, latin-1, preserves any bytes.

    The sample starts SAMPLE_LEAD_BYTES before the first byte that is not ASCII. Each step may take 50 ms.
    """
    runs = _RUN.findall(sample)
    alone = sum(1 for run in runs if len(run) == 1)
    is_western = all(map(_WESTERN.fullmatch, runs)) or len(runs) <= FEW_RUNS
    if alone >= 0.8 * len(runs) and is_western:
        yield from _LAST
    from charset_normalizer import from_bytes

    for choice in (_LIKELY, _FURTHER):
        for match in from_bytes(sample, cp_isolation=list(choice), enable_fallback=False):
            if familiar := _FAMILIAR.get(match.encoding):
                yield familiar
            yield match.encoding
    yield from _LAST
