"""Division of a batch's budget: shares never exceed it together, and unused amounts can be used again."""

from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.core.ports.run_ports import RunBudget
from hermes_acp.runs.batches.batch_budget import BatchBudget, BudgetShares

SEATS = 4


@given(st.integers(1, 10_000), st.lists(st.integers(0, 3_000), max_size=30), st.integers(1, 2_000))
def test_runs_within_their_shares_stay_within_the_budget(limit: int, uses: list[int], own: int) -> None:
    shares = BudgetShares(BatchBudget(max_tokens=limit))
    open_runs: list[tuple[str, int]] = []
    for number, use in enumerate(uses):
        lent = shares.reserve_share(str(number), RunBudget(max_tokens=own), SEATS - len(open_runs))
        if lent:
            assert lent.max_tokens
            assert lent.max_tokens <= own
            open_runs.append((str(number), min(use, lent.max_tokens)))
        if len(open_runs) == SEATS or (open_runs and lent is None):
            run_id, used = open_runs.pop(0)
            shares.settle(run_id, used, None)
    for run_id, used in open_runs:
        shares.settle(run_id, used, None)
    assert shares.tokens <= limit


def test_the_unused_share_of_a_line_is_returned() -> None:
    shares = BudgetShares(BatchBudget(max_cost_usd=1.0))
    first = shares.reserve_share("a", RunBudget(), 2)
    assert first
    assert first.max_cost_usd == 0.5
    second = shares.reserve_share("b", RunBudget(max_cost_usd=0.2), 1)
    assert second
    assert second.max_cost_usd == 0.2
    shares.settle("a", 10, 0.1)
    third = shares.reserve_share("c", RunBudget(), 1)
    assert third
    assert third.max_cost_usd is not None
    assert abs(third.max_cost_usd - 0.7) < 1e-9
    assert shares.reserve_share("d", RunBudget(), 1) is None
    assert not shares.is_used_up


def test_without_a_limit_a_line_keeps_its_own_budget() -> None:
    own = RunBudget(max_tokens=7)
    assert BudgetShares(BatchBudget()).reserve_share("a", own, 4) == own
