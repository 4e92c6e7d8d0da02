"""Kill a merge at each of its git calls, with and without conflicts, and repeat it each time.

python -m bench.merge_kills
"""

import itertools
import tempfile
import time
from pathlib import Path

import anyio

from tests.contract.test_merge_kills import check_conflict_killed_at, check_merge_killed_at


async def kill_everywhere(folder: Path) -> None:
    """Kill the merge at each call and print how many there were.

    Raises AssertionError if a repeated merge ends differently.
    """
    for name, check in (("merge", check_merge_killed_at), ("conflict", check_conflict_killed_at)):
        begun = time.perf_counter()
        at = 0
        for at in itertools.count(1):
            if not await check(folder / name / str(at), at):
                break
        took_s = time.perf_counter() - begun
        print(
            f"{name:10} killed at each of {at - 1} git calls and repeated: all as expected ({took_s:.0f} s)"
        )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="merge-kills-") as made:
        anyio.run(kill_everywhere, Path(made))
