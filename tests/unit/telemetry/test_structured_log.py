"""Decisions on disk: one per line, limited in size, readable only by their owner."""

import json
from pathlib import Path

from hermes_acp.telemetry.structured_log import SIZE_LIMIT_BYTES, StructuredLog


class Noon:
    def now(self) -> float:
        return 12.0

    def monotonic(self) -> float:
        return 0.0


def test_a_decision_is_one_line_readable_only_by_its_owner(tmp_path: Path) -> None:
    log = StructuredLog(tmp_path, Noon())
    log.note("model_call_failed", route="a/b", to_wait_s=1.5)
    log.note("model_call_failed", route="a/c")
    lines = [json.loads(line) for line in log.path.read_text(encoding="utf-8").splitlines()]
    assert lines[0] == {"at": 12.0, "what": "model_call_failed", "route": "a/b", "to_wait_s": 1.5}
    assert len(lines) == 2
    assert log.path.stat().st_mode & 0o777 == 0o600


def test_a_full_log_is_rotated_and_one_older_file_is_kept(tmp_path: Path) -> None:
    log = StructuredLog(tmp_path, Noon())
    for number in range(5):
        log.note("filled", words=f"{number}" * (SIZE_LIMIT_BYTES // 2))
    kept = log.path.with_suffix(".1.jsonl")
    assert sorted(path.name for path in log.path.parent.iterdir()) == [kept.name, log.path.name]
    assert kept.stat().st_size < 2 * SIZE_LIMIT_BYTES
    assert json.loads(log.path.read_bytes())["words"][0] == "4"


def test_values_that_look_like_secrets_are_masked(tmp_path: Path) -> None:
    log = StructuredLog(tmp_path, Noon())
    secret = "gl" + "pat-" + "a1B2c3D4e5F6g7H8i9J0"
    log.note("model_call_failed", trouble=f"refused {secret}")
    assert json.loads(log.path.read_bytes())["trouble"] == "refused [secret: gitlab token]"


def test_a_log_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("in the way")
    StructuredLog(tmp_path, Noon()).note("lost")
