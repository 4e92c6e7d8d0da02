"""Usage by user, day and month, and what remains of a quota."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from hermes_acp.users.accounts import Quota
from hermes_acp.users.rate_limits import RateLimit
from hermes_acp.users.usage_ledger import UsageLedger, Used, resets_at


def at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def test_usage_adds_up_by_day_and_month_and_user(tmp_path: Path) -> None:
    ledger = UsageLedger(tmp_path)
    ledger.spend("alice", Used(100, 0.5, 1), at("2026-11-30T23:59:59"))
    ledger.spend("alice", Used(10, 0.25), at("2026-12-01T00:00:00"))
    ledger.spend("alice", Used(1, 0.0, 1), at("2026-12-02T12:00:00"))
    ledger.spend("alic_", Used(7), at("2026-12-02T12:00:00"))
    now = at("2026-12-02T13:00:00")
    assert ledger.used("alice", "day", now) == Used(1, 0.0, 1)
    assert ledger.used("alice", "month", now) == Used(11, 0.25, 1)
    assert ledger.used("alice", "month", at("2026-11-30T00:00:00")) == Used(100, 0.5, 1)
    ledger.close()
    again = UsageLedger(tmp_path)
    assert again.used("alice", "month", now) == Used(11, 0.25, 1)
    again.close()


def test_a_quota_becomes_allowances_with_expiry_times(tmp_path: Path) -> None:
    ledger, now = UsageLedger(tmp_path), at("2026-12-31T13:00:00")
    ledger.spend("alice", Used(900, 2.0, 1), now)
    found = ledger.allowances("alice", Quota(tokens_per_day=1000, usd_per_month=1.5), now)
    assert [(each.measure, each.period, each.limit, each.used) for each in found] == [
        ("tokens", "day", 1000, 900),
        ("usd", "month", 1.5, 2.0),
    ]
    assert {each.resets_at for each in found} == {at("2027-01-01T00:00:00")}
    assert "$1.50 per month" in found[1].sentence()
    assert "2027-01-01 00:00 UTC" in found[1].sentence()
    assert ledger.allowances("alice", Quota(), now) == ()
    ledger.close()


@pytest.mark.parametrize(
    ("now", "day", "month"),
    [
        ("2026-02-28T10:00:00", "2026-03-01T00:00:00", "2026-03-01T00:00:00"),
        ("2026-01-31T23:59:59", "2026-02-01T00:00:00", "2026-02-01T00:00:00"),
        ("2026-12-01T00:00:00", "2026-12-02T00:00:00", "2027-01-01T00:00:00"),
    ],
)
def test_periods_end_at_the_right_time(now: str, day: str, month: str) -> None:
    assert resets_at("day", at(now)) == at(day)
    assert resets_at("month", at(now)) == at(month)


def test_a_rate_limit_refills() -> None:
    now = 0.0
    limit = RateLimit(60, 2, lambda: now)
    assert [limit.take("a") for _ in range(3)] == [0.0, 0.0, 1.0]
    assert limit.take("b") == 0.0
    now = 1.0
    assert limit.wait_s("a") == 0.0
    assert limit.take("a") == 0.0
    assert limit.take("a") == 1.0
    now = 100.0
    assert [limit.take("a") for _ in range(3)] == [0.0, 0.0, 1.0]
