"""The attack checks themselves: they detect what they are meant to detect."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from subprocess import PIPE, Popen

import pytest

from tests.attacks.attack_checks import MARK, Canary, check_wire, marked_processes, peak_rss_bytes

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are read in /proc")


def test_a_canary_that_was_read_changed_or_revealed_is_detected(tmp_path: Path) -> None:
    changed, gone, leaked = (Canary(tmp_path / name) for name in ("changed", "gone", "leaked"))
    changed.path.write_text("other")
    gone.path.unlink()
    (tmp_path / "leak").write_text(f"so: {leaked.token}!")
    for canary, folders in ((changed, []), (gone, []), (leaked, [tmp_path])):
        with pytest.raises((AssertionError, FileNotFoundError)):
            canary.check(b"", folders)
    on_wire = Canary(tmp_path / "told")
    with pytest.raises(AssertionError, match="over the wire"):
        on_wire.check(f"xx{on_wire.token}xx".encode())
    Canary(tmp_path / "sound").check(b"nothing", [tmp_path / "elsewhere"])


def test_a_read_canary_is_detected_where_the_disk_records_access_times(tmp_path: Path) -> None:
    canary = Canary(tmp_path)
    before = canary.path.stat().st_atime_ns
    canary.path.read_text()
    if canary.path.stat().st_atime_ns == before:
        pytest.skip("this disk records no access times")
    with pytest.raises(AssertionError, match="touched"):
        canary.check(b"")


@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "2.0", "id": 1, "result": {}, "error": {}},
        {"jsonrpc": "2.0", "result": {}},
        {"jsonrpc": "2.0", "id": 1},
        {"jsonrpc": "2.0", "id": 1, "result": {}, "extra": 1},
        {"jsonrpc": "2.0", "id": 1, "error": {"message": "Traceback (most recent call last):"}},
    ],
)
def test_an_invalid_message_is_detected(message: dict[str, object]) -> None:
    with pytest.raises(AssertionError):
        check_wire([message])


def test_a_surviving_process_is_detected() -> None:
    mark = os.urandom(8).hex()
    command, variables = ["sh", "-c", "echo; read end"], {MARK: mark, "PATH": os.environ["PATH"]}
    with Popen(command, stdin=PIPE, stdout=PIPE, env=variables) as child:
        assert child.stdout
        assert child.stdout.read(1) == b"\n", "until then it may not have the variables yet"
        assert marked_processes(mark) == [child.pid]
        assert peak_rss_bytes(child.pid) > 0
        child.kill()
        child.wait(timeout=10)
    assert marked_processes(mark) == []
