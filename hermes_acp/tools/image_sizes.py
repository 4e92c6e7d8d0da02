"""Read an image's size in pixels from its header, without decoding the image.

An image of a few kilobytes can decode to gigabytes, here, in an editor or at a vendor. Source: RFC 2083
(PNG), ITU T.81 (JPEG), the GIF89a specification, RFC 9649 (WebP).
"""

from collections.abc import Iterator
from typing import Final

MAX_SIDE_PIXELS: Final = 8_000
"""No vendor accepts more pixels per side."""
_FRAME_STARTS: Final = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})
_BARE: Final = frozenset({0x01, *range(0xD0, 0xD9)})
_MAX_FRAMES: Final = 10_000


def size_of(content: bytes) -> tuple[int, int]:
    """Return an image's width and height, the largest of several frames, or zeros if unknown."""
    if content.startswith(b"\x89PNG"):
        sizes = _of_png(content)
    elif content.startswith(b"\xff\xd8"):
        sizes = _of_jpeg(content)
    elif content.startswith(b"GIF8"):
        sizes = _of_gif(content)
    else:
        sizes = _of_webp(content)
    found = list(sizes)
    return max((width for width, _ in found), default=0), max((height for _, height in found), default=0)


def is_whole(content: bytes) -> bool:
    """Return whether an image states its size and, if it is a PNG, is complete; vendors reject others.

    Once in the history, an incomplete image would make every later turn fail too.
    """
    return all(size_of(content)) and (not content.startswith(b"\x89PNG") or b"IEND" in content)


def too_large(content: bytes) -> str:
    """Describe an image's size if it has too many pixels to show; otherwise return an empty string."""
    width, height = size_of(content)
    if max(width, height) <= MAX_SIDE_PIXELS:
        return ""
    return f"{width:,} by {height:,} pixels; at most {MAX_SIDE_PIXELS:,} a side"


def _big(content: bytes, at: int, size: int) -> int:
    return int.from_bytes(content[at : at + size], "big")


def _little(content: bytes, at: int, size: int) -> int:
    return int.from_bytes(content[at : at + size], "little")


def _of_png(content: bytes) -> Iterator[tuple[int, int]]:
    if content[12:16] == b"IHDR":
        yield _big(content, 16, 4), _big(content, 20, 4)


def _of_jpeg(content: bytes) -> Iterator[tuple[int, int]]:
    """Walk the segments up to the first one that contains pixels."""
    at = 2
    while at + 4 <= len(content):
        if content[at] != 0xFF:
            at += 1
            continue
        marker = content[at + 1]
        if marker in _FRAME_STARTS:
            yield _big(content, at + 7, 2), _big(content, at + 5, 2)
        if marker == 0xFF or marker in _BARE:
            at += 1 if marker == 0xFF else 2
        elif marker in (0xD9, 0xDA, 0x00):
            return
        else:
            at += 2 + max(2, _big(content, at + 2, 2))


def _of_gif(content: bytes) -> Iterator[tuple[int, int]]:
    """Walk all frames: each has its own size, independent of the screen's."""
    if len(content) < 13:
        return
    yield _little(content, 6, 2), _little(content, 8, 2)
    at = 13 + _table(content, 10)
    for _ in range(_MAX_FRAMES):
        kind = content[at : at + 1]
        if kind == b"\x2c":
            yield _little(content, at + 5, 2), _little(content, at + 7, 2)
            at = _past_blocks(content, at + 11 + _table(content, at + 9))
        elif kind == b"\x21":
            at = _past_blocks(content, at + 2)
        else:
            return


def _table(content: bytes, at: int) -> int:
    """Return the length of the colour table announced by a flags byte."""
    flags = _little(content, at, 1)
    return 3 << ((flags & 7) + 1) if flags & 0x80 else 0


def _past_blocks(content: bytes, at: int) -> int:
    while length := _little(content, at, 1):
        at += 1 + length
    return at + 1


def _of_webp(content: bytes) -> Iterator[tuple[int, int]]:
    at = 12
    while at + 8 <= len(content):
        kind, length, data = content[at : at + 4], _little(content, at + 4, 4), at + 8
        if kind == b"VP8X":
            yield _little(content, data + 4, 3) + 1, _little(content, data + 7, 3) + 1
        elif kind == b"VP8L":
            bits = _little(content, data + 1, 4)
            yield (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        elif kind == b"VP8 ":
            yield _little(content, data + 6, 2) & 0x3FFF, _little(content, data + 8, 2) & 0x3FFF
        elif kind == b"ANMF":
            yield _little(content, data + 6, 3) + 1, _little(content, data + 9, 3) + 1
        at = data + length + length % 2
