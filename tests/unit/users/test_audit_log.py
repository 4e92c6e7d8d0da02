"""The audit log detects a change, a gap or a truncation."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from hermes_acp.users.audit_log import AuditLog, entry

Lines = list[bytes]


def filled(folder: Path, count: int = 5) -> AuditLog:
    log = AuditLog(folder)
    for number in range(count):
        log.append(entry("signed_in", "done", who="alice", source="10.0.0.1", about=f"é {number}"))
    return log


def test_entries_are_kept_in_order_and_verified(tmp_path: Path) -> None:
    log = filled(tmp_path)
    assert [each.about for each in log.entries()] == [f"é {number}" for number in range(5)]
    verdict = log.verify()
    assert (verdict.entries, verdict.problem) == (5, "")
    assert log.verify(verdict.head).problem == ""
    assert log.path.stat().st_mode & 0o777 == 0o600
    log.append(entry("refused", "refused"))
    assert log.verify(verdict.head).entries == 6
    assert AuditLog(tmp_path / "none").verify().entries == 0


def spoiled(how: str, lines: Lines) -> Lines:
    ways: dict[str, Lines] = {
        "changed": [lines[0], lines[1].replace(b"alice", b"mallo"), *lines[2:]],
        "swapped": [lines[0], lines[2], lines[1], *lines[3:]],
        "removed": [lines[0], *lines[2:]],
        "first": lines[1:],
        "last": lines[:-1],
        "all": [],
        "twice": [*lines, lines[-1]],
        "emptied": [*lines[:2], b"{}\n", *lines[3:]],
        "added": [*lines[:2], b"nonsense\n", *lines[2:]],
    }
    return ways[how]


@pytest.mark.parametrize(
    "how", ["changed", "swapped", "removed", "first", "last", "all", "twice", "emptied", "added"]
)
def test_changes_to_the_file_are_detected(tmp_path: Path, how: str) -> None:
    log = filled(tmp_path)
    log.path.write_bytes(b"".join(spoiled(how, log.path.read_bytes().splitlines(keepends=True))))
    assert log.verify().problem


def test_a_rewritten_log_lacks_the_recorded_hash(tmp_path: Path) -> None:
    noted = filled(tmp_path).verify().head
    for file in tmp_path.iterdir():
        file.unlink()
    log = filled(tmp_path)
    assert log.verify().problem == ""
    assert "noted" in log.verify(noted).problem


def test_an_entry_partly_written_by_a_killed_process_is_cut_off(tmp_path: Path) -> None:
    log = filled(tmp_path)
    with log.path.open("ab") as file:
        file.write(b'{"at":"2026')
    log.append(entry("signed_in", "done", who="bob"))
    assert log.verify().entries == 6
    assert log.verify().problem == ""


def test_a_process_killed_before_it_recorded_the_end_changed_nothing(tmp_path: Path) -> None:
    log = filled(tmp_path)
    head = tmp_path / "audit.head"
    earlier = head.read_text()
    log.append(entry("signed_in", "done"))
    head.write_text(earlier)
    assert log.verify().problem == ""
    head.unlink()
    assert "audit.head" in log.verify().problem


def test_long_details_are_truncated(tmp_path: Path) -> None:
    log = AuditLog(tmp_path)
    log.append(entry("refused", "refused", about="x" * 10_000))
    assert len(next(log.entries()).about) == 300


CROWDED = """
import resource, signal, sys
from pathlib import Path
from hermes_acp.core.errors import StorageError
from hermes_acp.users.audit_log import AuditLog, entry
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
log = AuditLog(Path(sys.argv[1]))
size = log.path.stat().st_size + 20
resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
try:
    log.append(entry("signed_in", "done", who="alice"))
except StorageError:
    print("refused")
"""


def test_an_entry_that_the_disk_stored_only_in_part_was_not_written(tmp_path: Path) -> None:
    log = filled(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", CROWDED, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "refused\n"
    assert log.verify().problem == ""
    log.append(entry("signed_in", "done", who="bob"))
    assert (log.verify().entries, log.verify().problem) == (6, "")
