"""Files that are not what they seem: pipes, sparse files, fake images."""

from __future__ import annotations

import os
import socket
import struct
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Final

import anyio
import pytest

from tests.attacks.attack_checks import attacked_agent, result_of
from tests.model_server import Reply, ToolCall

pytestmark = [
    pytest.mark.slow,
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform != "linux", reason="it makes pipes and holes"),
]
HOLE_BYTES: Final = 1 << 40
START: Final = b"\x89PNG\r\n\x1a\n"


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width: int, height: int) -> bytes:
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return START + head + chunk(b"IDAT", zlib.compress(bytes(100))) + chunk(b"IEND", b"")


def hole(path: Path, begin: bytes = b"") -> None:
    with path.open("wb") as file:
        file.write(begin)
        file.truncate(HOLE_BYTES)


def plug(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        folder = os.open(path.parent, os.O_PATH)
        try:
            one.bind(f"/proc/self/fd/{folder}/{path.name}")  # A whole path may be too long for a socket.
        finally:
            os.close(folder)


ODD: Final[dict[str, Callable[[Path], object]]] = {
    "pipe": os.mkfifo,
    "pipe.png": os.mkfifo,
    "pipe.ipynb": os.mkfifo,
    "socket": plug,
    "hole": hole,
    "hole.png": lambda path: hole(path, png(2, 2)),
    "hole.ipynb": hole,
    "zeros": lambda path: path.symlink_to("/dev/zero"),
    "environment": lambda path: path.symlink_to("/proc/self/environ"),
    "input": lambda path: path.symlink_to("/proc/self/fd/0"),
    "vast.png": lambda path: path.write_bytes(png(65_535, 65_535)),
    "cut.png": lambda path: path.write_bytes(png(2, 2)[:20]),
    "late.png": lambda path: path.write_bytes(START + chunk(b"eXIf", b"1234") + png(60_000, 60_000)[8:]),
    "marks.jpg": lambda path: path.write_bytes(b"\xff\xd8\xff" + b"\xff" * 3_000_000),
    "chunks.webp": lambda path: path.write_bytes(b"RIFF\0\0\0\0WEBP" + b"ABCD\0\0\0\0" * 400_000),
}


async def test_special_files_are_rejected_at_once(tmp_path: Path) -> None:
    async with attacked_agent(tmp_path) as siege:
        for name, make in ODD.items():
            make(siege.workspace / name)
        calls = [ToolCall("read_file", {"path": name}, id=f"r{n}") for n, name in enumerate(ODD)]
        calls += [
            ToolCall("write_file", {"path": name, "content": "x"}, id=f"w{n}")
            for n, name in enumerate(("pipe", "socket", "zeros"))
        ]
        calls += [
            ToolCall("search", {"pattern": "x", "path": name}, id=f"s{n}")
            for n, name in enumerate(("pipe", "socket", "zeros", "environment"))
        ]
        with anyio.fail_after(60):
            ends = await siege.turn(Reply(tool_calls=tuple(calls)))
        assert [result_of(end) for end in ends if end["status"] != "failed"] == []
        with anyio.fail_after(60):
            found = await siege.call("search", {"pattern": "x+y"})
        assert found["status"] == "completed"


async def test_an_image_with_another_name_is_recognised_by_its_bytes(tmp_path: Path) -> None:
    async with attacked_agent(tmp_path) as siege:
        (siege.workspace / "a.txt").write_bytes(png(2, 2))
        (siege.workspace / "words.png").write_text("words, no picture")
        assert "image/png" in result_of(await siege.call("read_file", {"path": "a.txt"}))
        assert "words, no picture" in result_of(await siege.call("read_file", {"path": "words.png"}))
