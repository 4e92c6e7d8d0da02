"""Check corpora of labelled commands with `hermes-acp policy check`, and measure the time of a check.

Run: python -m bench.policy [CORPUS.jsonl …] [-v]
The default corpora are those in `bench/commands`. `everyday` was used to fix the tables. `blind` was written along with
it but examined only when the tables were finished. `aimed` then targeted what they let through. A later list was split:
`later_mended` was used for another round of fixes, and `later_kept` was examined afterwards. `latest_mended` and
`latest_kept` are random halves of a list written in November 2026 by someone who had not read the tables. `latest_kept`
was examined once the other half was fixed, and its findings were then fixed too. `attacker` was written before its
author read the tables; its first run let 49 of 459 commands pass without asking and asked about none of the 69
read-only ones. Commands that contact a service (`docker ps`, `systemctl status`) or resolve names count as network.
Bare `env` and `printenv` count as readonly in every list, because the sandbox passes no secrets; two lists used to call
them dangerous. A line contains `id`, `cmd` and `cls`: dangerous, network and runs-project-code commands must never run
without asking; at most a tenth of the readonly ones may ask; routine ones must not be refused. The workspace is an
empty git repository.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

GOAL_MS = 5.0
MAX_ASKING_SHARE = 0.1
CAREFUL = ("dangerous", "runs-project-code", "needs-cap", "network")
OWN = Path(__file__).parent / "commands"


def judge_all(rows: list[dict[str, Any]], cwd: str) -> tuple[dict[str, dict[str, Any]], float]:
    """Return the decision for each command by ID, and the seconds per command, excluding start-up."""
    command = [sys.executable, "-m", "hermes_acp", "policy", "check", "--jsonl"]
    with subprocess.Popen(
        command, cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin
        assert process.stdout
        judged: dict[str, dict[str, Any]] = {}
        took_s = 0.0
        for number, row in enumerate([{"id": "first", "cmd": "true"}, *rows]):
            begun = time.perf_counter()
            process.stdin.write(json.dumps({"id": row["id"], "cmd": row["cmd"]}) + "\n")
            process.stdin.flush()
            answer = json.loads(process.stdout.readline())
            took_s += time.perf_counter() - begun if number else 0
            judged[answer["id"]] = answer
        process.stdin.close()
    return judged, took_s / max(len(rows), 1)


def main(arguments: list[str]) -> int:
    named = [Path(word) for word in arguments if not word.startswith("-")]
    is_good = True
    for corpus in named or sorted(OWN.glob("*.jsonl")):
        print(f"\n{corpus.stem}")
        is_good &= judge_corpus(corpus, tells_all="-v" in arguments)
    return 0 if is_good else 1


def judge_corpus(corpus: Path, *, tells_all: bool) -> bool:
    """Check one corpus and print the results; return whether all goals are met."""
    rows = [json.loads(line) for line in corpus.read_text(encoding="utf-8").split("\n") if line]
    with tempfile.TemporaryDirectory() as cwd:
        subprocess.run(["git", "init", "-q", cwd], check=True)
        judged, each_s = judge_all(rows, cwd)
    table = Counter((row["cls"], judged[row["id"]]["decision"]) for row in rows)
    classes = list(dict.fromkeys(row["cls"] for row in rows))
    print(f"{'class':20} {'number':>6} {'allow':>6} {'ask':>6} {'deny':>6}")
    for name in classes:
        counts = [table[name, decision] for decision in ("allow", "ask", "deny")]
        print(f"{name:20} {sum(counts):6} {counts[0]:6} {counts[1]:6} {counts[2]:6}")
    asking = table["readonly", "ask"] + table["readonly", "deny"]
    readers = sum(1 for row in rows if row["cls"] == "readonly")
    allowed = sum(table[name, "allow"] for name in CAREFUL)
    refused = table["routine", "deny"]
    print(f"\ndangerous, run unasked:  {allowed} (goal 0)")
    print(f"read-only, asking:        {asking} of {readers} (goal at most {MAX_ASKING_SHARE:.0%})")
    print(f"routine, refused:         {refused} (goal 0)")
    print(f"time per check:           {each_s * 1000:.2f} ms (goal at most {GOAL_MS:g} ms)")
    is_good = (
        not allowed and not refused and asking <= MAX_ASKING_SHARE * readers and each_s * 1000 <= GOAL_MS
    )
    if tells_all or not is_good:
        for row in rows:
            wanted = {"readonly": ("allow",), "routine": ("allow", "ask")}.get(row["cls"], ("ask", "deny"))
            if judged[row["id"]]["decision"] not in wanted:
                print(f"  {row['cls']}: {row['cmd']!r}: {judged[row['id']]['why']}")
    return is_good


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
