"""The pixel counts that images claim to have, with bytes made for each claim."""

import struct
import zlib

import pytest

from hermes_acp.core.errors import WorkspaceError
from hermes_acp.tools.image_files import image_type, to_image
from hermes_acp.tools.image_sizes import MAX_SIDE_PIXELS, size_of, too_large


def png(width: int, height: int) -> bytes:
    head = b"IHDR" + struct.pack(">II", width, height) + b"\x08\x02\0\0\0"
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + head + struct.pack(">I", zlib.crc32(head))


def jpeg(width: int, height: int, start: int = 0xC0) -> bytes:
    note = b"\xff\xe1" + struct.pack(">H", 2 + 300) + b"\xff\xc0" * 150
    frame = bytes([0xFF, start]) + struct.pack(">HBHHB", 17, 8, height, width, 3) + bytes(9)
    return b"\xff\xd8" + note + b"\xff\xff" + frame + b"\xff\xda"


def gif(width: int, height: int, *, frame: tuple[int, int] = (1, 1)) -> bytes:
    screen = b"GIF89a" + struct.pack("<HHBBB", width, height, 0x80, 0, 0) + bytes(6)
    extension = b"\x21\xf9\x04" + bytes(4) + b"\0"
    picture = b"\x2c" + struct.pack("<HHHHB", 0, 0, *frame, 0) + b"\x02" + b"\x02ab\0"
    return screen + extension + picture + b"\x3b"


def webp(kind: bytes, data: bytes) -> bytes:
    chunk = kind + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)
    return b"RIFF" + struct.pack("<I", 4 + len(chunk)) + b"WEBP" + chunk


def extended(width: int, height: int) -> bytes:
    return bytes(4) + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")


CLAIMS = {
    "png": png(640, 480),
    "jpeg": jpeg(640, 480),
    "progressive jpeg": jpeg(640, 480, 0xC2),
    "gif": gif(640, 480),
    "gif whose frame is larger": gif(1, 1, frame=(640, 480)),
    "webp with more": webp(b"VP8X", extended(640, 480)),
    "webp": webp(b"VP8 ", bytes(3) + b"\x9d\x01\x2a" + struct.pack("<HH", 640, 480)),
    "webp without loss": webp(b"VP8L", b"\x2f" + struct.pack("<I", 639 | 479 << 14)),
}


@pytest.mark.parametrize("kind", CLAIMS)
def test_the_size_is_read_from_each_format(kind: str) -> None:
    assert size_of(CLAIMS[kind]) == (640, 480)
    assert too_large(CLAIMS[kind]) == ""


@pytest.mark.parametrize(
    "content",
    [
        png(30_000, 30_000), png(1, 2**31), jpeg(65_535, 65_535), gif(65_535, 9), gif(1, 1, frame=(65_535, 65_535)),
        webp(b"VP8X", extended(16_000_000, 16_000_000)), webp(b"VP8L", b"\x2f" + b"\xff" * 4),
    ],
)  # fmt: skip
def test_an_image_that_would_fill_the_memory_is_rejected(content: bytes) -> None:
    with pytest.raises(WorkspaceError, match="pixels; at most 8,000 a side can be shown"):
        to_image(content, image_type(content), "bomb")


@pytest.mark.parametrize("kind", CLAIMS)
def test_a_truncated_image_does_not_block(kind: str) -> None:
    for end in range(len(CLAIMS[kind])):
        assert max(size_of(CLAIMS[kind][:end])) <= MAX_SIDE_PIXELS
