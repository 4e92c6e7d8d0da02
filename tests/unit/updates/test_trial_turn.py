"""The trial run of a new version, with commands that answer slowly or incorrectly."""

import os
import sys
from pathlib import Path

import pytest

from hermes_acp.updates.trial_turn import greet
from hermes_acp.updates.update_errors import UpdateFailed

pytestmark = pytest.mark.anyio
ANSWER = '{"jsonrpc":"2.0","id":0,"result":{"agentInfo":{"version":"9.9"}}}'
PATIENT = f"""
import select, sys
sys.stdin.buffer.raw.readline()
is_closed = bool(select.select([0], [], [], 0.05)[0])
print("closed" if is_closed else {ANSWER!r}, flush=True)
assert sys.stdin.read() == ""
"""


async def greeting(script: str, folder: Path) -> None:
    await greet([sys.executable, "-c", script], dict(os.environ), folder, "9.9")


async def test_the_input_stays_open_until_a_slowly_starting_version_has_answered(tmp_path: Path) -> None:
    await greeting(PATIENT, tmp_path)


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (f"print({ANSWER.replace('9.9', '1.0')!r})", "agentInfo"),
        ("import sys; sys.exit('a module is missing')", "a module is missing"),
        ("print('x' * 9)", "xxxxxxxxx"),
        ("", "no output"),
    ],
)
async def test_any_answer_except_the_new_versions_is_reported(
    tmp_path: Path, script: str, reason: str
) -> None:
    with pytest.raises(UpdateFailed, match=reason):
        await greeting(script, tmp_path)
