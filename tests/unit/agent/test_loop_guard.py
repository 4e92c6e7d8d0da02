"""The loop guard: repeated calls count, and progress resets the count."""

from hermes_acp.agent.turn.loop_guard import LoopGuard, Repeatable

LOOK, FAIL = Repeatable("look {}", "same"), Repeatable("try {}")


def counts(guard: LoopGuard, *calls: tuple[Repeatable, bool]) -> list[int]:
    return [guard.count(done, has_effect=has_effect) for done, has_effect in calls]


def test_the_same_call_with_the_same_result_is_counted() -> None:
    assert counts(LoopGuard(), (LOOK, False), (LOOK, False), (Repeatable("look {}", "other"), False)) == [
        1,
        2,
        1,
    ]


def test_failures_of_a_call_are_counted_together() -> None:
    assert counts(LoopGuard(), (FAIL, True), (FAIL, True), (FAIL, True)) == [1, 2, 3]


def test_alternating_calls_are_counted_separately() -> None:
    other = Repeatable("look elsewhere", "same")
    assert counts(LoopGuard(), *[(LOOK, False), (other, False)] * 3) == [1, 1, 2, 2, 3, 3]


def test_a_new_change_restarts_the_count() -> None:
    edits = [(Repeatable(f"edit {n}", "done"), True) for n in range(3)]
    test = (Repeatable("test", "1 failed"), True)
    assert counts(LoopGuard(), test, edits[0], test, edits[1], test, edits[2], test) == [1] * 7


def test_undoing_and_redoing_is_no_progress() -> None:
    forth, back = (Repeatable("write 1", "ok"), True), (Repeatable("write 2", "ok"), True)
    assert counts(LoopGuard(), *[forth, back] * 4) == [1, 1, 1, 2, 2, 3, 3, 4]


def test_reading_something_else_is_no_progress() -> None:
    elsewhere = [(Repeatable(f"look {n}", "x"), False) for n in range(3)]
    assert (
        counts(LoopGuard(), (LOOK, False), elsewhere[0], (LOOK, False), elsewhere[1], (LOOK, False))[-1] == 3
    )
