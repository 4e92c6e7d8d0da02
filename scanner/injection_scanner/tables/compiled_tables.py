"""Load the compiled tables, which contain the data of the TOML files in a form that needs no parsing.

`python -m bench.ready_tables` creates them.
"""

import os
from binascii import crc32
from collections.abc import Callable
from typing import Final, TypeVar

import msgspec

T = TypeVar("T")

FOLDER: Final = os.path.dirname(__file__)
MARK_BYTES: Final = 4
"""The number of bytes before a compiled table that identify its source."""


def load_table(name: str, shape: type[T], make: Callable[[str], T]) -> T:
    """Return the compiled table, or build it now if its source has changed."""
    source = read_source(name)
    ready = read_data_file(f"{name}.msgpack")
    if ready[:MARK_BYTES] == _mark_of(source):
        try:
            return msgspec.msgpack.decode(memoryview(ready)[MARK_BYTES:], type=shape)
        except msgspec.ValidationError:
            pass
    return make(source.decode())


def compile_table(name: str, make: Callable[[str], object]) -> bytes:
    """Return the compiled form of a table, for `load_table`."""
    source = read_source(name)
    return _mark_of(source) + msgspec.msgpack.encode(make(source.decode()), order="deterministic")


def read_source(name: str) -> bytes:
    """Read the TOML file of a table."""
    return read_data_file(f"{name}.toml")


def _mark_of(source: bytes) -> bytes:
    return crc32(source).to_bytes(MARK_BYTES, "big")


def read_data_file(file: str) -> bytes:
    """Return the content of a file in this folder, or empty bytes if it does not exist."""
    try:
        with open(os.path.join(FOLDER, file), "rb", buffering=0) as stream:
            return stream.readall()
    except FileNotFoundError:
        return b""
