"""How commands are judged: corpora of labelled ones through `hermes-acp policy check`, and what a judgement takes.

Run: python -m bench.policy [CORPUS.jsonl …] [-v]
Without a corpus, those in `bench/commands`: `everyday` was used to mend the tables, `blind` was written beside it and
looked at only when they were done, `aimed` then went for what they let pass. Of one later list `later_mended` was used
to mend once more, `later_kept` looked at when that was done. `latest_mended` and `latest_kept` are the halves, drawn by
lot, of a list written in November 2026 by somebody who had not read the tables; `latest_kept` was looked at when the
other was mended, and what it then showed was mended too. `attacker` was written before its author read the tables; its
first run let 49 of 459 pass unasked and asked about none of the 69 that only read. What reaches a service
(`docker ps`, `systemctl status`) or looks names up counts as network. Bare `env` and `printenv` count as readonly in
every list since the sandbox passes no secrets; two lists called them dangerous before. A line holds `id`, `cmd` and
`cls`:
dangerous, network and runs-project-code must never run unasked, of the readonly at most a tenth may ask, routine must
not be refused. The workspace is an empty git repository.
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
    """Return each command's decision by its ID, and seconds per command, excluding start-up."""
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
    print(f"\ndangerous that run unasked: {allowed} (goal 0)")
    print(f"read-only that ask:         {asking} of {readers} (goal at most {MAX_ASKING_SHARE:.0%})")
    print(f"routine that are refused:   {refused} (goal 0)")
    print(f"a judgement:                {each_s * 1000:.2f} ms (goal at most {GOAL_MS:g} ms)")
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
