"""A fixed part of the frame fuzzing that `python -m bench.fuzz_frames` does at length."""

import anyio
import pytest

from bench.fuzz_frames import fuzz_connection, fuzz_parts
from bench.spoiled_frames import Spoiler, list_seeds

FRAMES = 12_000
WAIT_S = 60


def test_valid_frames_are_all_understood() -> None:
    class Sound(Spoiler):
        def spoil(self) -> bytes:
            return self.random.choice(list_seeds())

    kinds = fuzz_parts(Sound(seed=1), 500)
    assert set(kinds) == {"request, decoded", "notification, decoded", "reply"}


def test_invalid_frames_are_distinguished_and_nothing_else_is_raised() -> None:
    kinds = fuzz_parts(Spoiler(seed=1), FRAMES)
    for kind in ("request", "notification"):
        assert kinds[f"{kind}, decoded"] > 0
        assert kinds[f"{kind}, refused"] > 0
    reasons = {kind for kind in kinds if kind.startswith("malformed")}
    assert len(reasons) >= 10
    assert kinds["reply"] > 0
    assert kinds.total() >= FRAMES * 0.9


@pytest.mark.anyio
async def test_a_live_connection_answers_after_every_thousand_invalid_frames() -> None:
    with anyio.fail_after(WAIT_S):
        answers = await fuzz_connection(Spoiler(seed=2), FRAMES)
    assert answers > FRAMES / 2
