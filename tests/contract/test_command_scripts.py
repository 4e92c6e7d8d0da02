"""Scripts for other machines, run here on one busy processor: a process that is just starting is found."""

import os
import sys

import anyio
import pytest

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")]
ROUNDS = 8
# While a program starts, its environment is briefly unreadable; on a busy machine that takes longer.
DRIVER = """
import os, subprocess, sys
from hermes_acp.workspaces.processes.process_table import list_processes
from hermes_acp.workspaces.remote.command_scripts import run_script, kill_script
from hermes_acp.workspaces.processes.process_spawn import MARK

def sh(script, **variables):
    argv = ["/bin/sh", "-c", script]
    return subprocess.run(argv, env={"PATH": os.defpath, **variables}, stdout=subprocess.PIPE).stdout.decode()

def survivors(mark):
    found = []
    for pid in list_processes():
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                found += [pid] if f"{MARK}={mark}".encode() in file.read() else []
        except OSError:
            pass
    return found

rounds, mark = int(sys.argv[1]), f"mark{os.getpid()}"
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
started = "setsid setsid sleep 1000 >/dev/null 2>&1 &"
with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as busy:
    try:
        struck = []
        for number in range(rounds):
            sh(started, **{MARK: f"{mark}-{number:02}"})
            struck.append(sh(kill_script(f"{mark}-{number:02}")))
        escaped = survivors(mark)
        marks = [f"{mark}-run-{number:02}" for number in range(rounds)]
        told = [sh(run_script("token", started, "/", {MARK: each})) for each in marks]
        last = sh(kill_script(mark))
    finally:
        busy.kill()
untold = ["token left some" in each for each in told].count(False)
print(struck == ["struck\\n"] * rounds, escaped, untold, last.strip())
"""


@pytest.mark.slow
async def test_a_process_that_is_just_starting_is_reported_and_ended() -> None:
    environment = {"PATH": os.defpath, "PYTHONPATH": os.pathsep.join(sys.path)}
    with anyio.fail_after(300):
        done = await anyio.run_process([sys.executable, "-c", DRIVER, str(ROUNDS)], env=environment)
    assert done.stdout.decode() == "True [] 0 struck\n"
