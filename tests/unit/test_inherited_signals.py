"""Stop signals that the parent ignores, as nohup does, stay ignored until the process ends."""

import subprocess
import sys

HANGS_UP_WHILE_IT_ENDS = """
import os, signal

signal.signal(signal.SIGHUP, signal.SIG_IGN)
from hermes_acp.shutdown import reset_inherited_signals, stop_signals

reset_inherited_signals()
assert signal.SIGHUP not in stop_signals()
os.kill(os.getpid(), signal.SIGHUP)

class Late:
    def __del__(self, kill=os.kill, number=signal.SIGHUP, process=os.getpid()):
        kill(process, number)

late = Late()
print("done", flush=True)
"""


def test_an_ignored_hangup_does_not_end_a_process_that_is_shutting_down() -> None:
    done = subprocess.run(
        [sys.executable, "-c", HANGS_UP_WHILE_IT_ENDS],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")
