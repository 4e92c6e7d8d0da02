"""Measure the VS Code extension in a real window: activation, the first word, 5,000 updates, and the package size.

Run: python -m bench.vscode [UPDATES]
Frames are counted in the panel's own page at a thousand updates per second: words of one growing answer, then tool call
cards. The floors are the same page when idle, and plain words in one scrolling element, which shows the browser's own
cost. Activation is what VS Code itself measures. The editor and the extension's packages are those used by the tests
(`bash tests/install.sh`).
"""

import json
import shutil
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.e2e.agent_process import COMMAND
from tests.e2e.vscode_editor import DRIVER, ROOT, VSIX, build_extension, run_node

GOAL_ACTIVATION_MS, GOAL_BYTES = 100, 1_500_000
WAIT_S = 300.0


def measure(updates: int, browser: str, folder: str) -> list[dict[str, Any]]:
    """Open the window and yield its measurements one by one."""
    config = {
        "folder": folder,
        "vsix": str(VSIX),
        "command": COMMAND,
        "python": sys.executable,
        "script": str(DRIVER / "script.json"),
        "shots": str(Path(folder) / "shots"),
        "root": str(ROOT),
    }
    arguments = [str(DRIVER / "bench.mjs"), json.dumps(config), str(updates)]
    done = run_node(arguments, browser=browser, wait_s=WAIT_S)
    if done.returncode:
        raise SystemExit(f"The window could not be measured: {done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def main(updates: int) -> None:
    """Run the measurements and print the results with the goals and the floor."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        raise SystemExit("Chromium is not installed; run: bash tests/install.sh")
    build_extension(browser)
    print(
        f"package      {VSIX.stat().st_size / 1000:8.0f} kB      (goal: at most {GOAL_BYTES / 1000:.0f} kB)"
    )
    with tempfile.TemporaryDirectory() as folder:
        measured = measure(updates, browser, folder)
    for each in measured:
        if each["kind"] == "activation":
            print(f"activation   {each['ms']:8.0f} ms      (goal: at most {GOAL_ACTIVATION_MS} ms)")
            continue
        if each["kind"] == "first word":
            first, *warm = each["ms"]
            print(f"first word   {first:8.0f} ms, then {statistics.median(warm):.0f} ms after Enter")
            continue
        print(
            f"{each['kind']:12} {each['total']:8.0f} updates in {each['seconds']:.1f} s: {each['frames']:.0f} frames, "
            f"{each['dropped']:.0f} dropped; a frame {each['median']:.1f} ms, p95 {each['p95']:.1f}, "
            f"worst {each['worst']:.1f}; {each['rows']:.0f} rows in the page; s: "
            f"{', '.join(f'{name} {seconds:.2f}' for name, seconds in each['spent'].items())}"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5_000)
