"""Messages of `hermes-acp batch`."""

from collections.abc import Sequence
from typing import Final

RUN_HELP: Final = "run the prompts in a file, or continue after an interruption"
STATUS_HELP: Final = "show the progress of a batch; without BATCH, list all batches"
STOP_HELP: Final = "stop a batch, including the lines in progress"
PROMPTS_HELP: Final = (
    "a file with one JSON object per line: id, prompt and, optionally, workspace, mode, model, backend, priority, "
    "budget and metadata"
)
BATCH_HELP: Final = "the batch: its ID, or its prompts file"
OUT_HELP: Final = "the file for the results (default: PROMPTS.results.jsonl beside the prompts)"
ID_HELP: Final = "the ID of the batch (default: made from the file's name and place)"
CONCURRENCY_HELP: Final = "how many lines to run at once (default: {default})"
MODE_HELP: Final = "the permission mode of lines without one (default: as configured)"
MODEL_HELP: Final = "the model of lines without one (default: as configured)"
BACKEND_HELP: Final = "where commands of lines without a backend run (default: as configured)"
MAX_TOKENS_HELP: Final = "stop after this many tokens, counting all lines"
MAX_COST_HELP: Final = "stop at this total cost of all lines, in US dollars"
QUESTIONS_HELP: Final = (
    "wait: lines with a question wait for your answer, and the others continue (default); "
    "decline: every question is declined at once"
)
RETRY_HELP: Final = "also retry lines that failed or were stopped, each in a new session"
HERE_HELP: Final = "work in this process, even if another one could"
QUIET_HELP: Final = "show no progress"
EPILOG: Final = (
    "exit codes: 0 every line is done, 1 lines failed or were not started, 2 the file or a flag is wrong, "
    "4 the results could not be stored, 5 lines wait for your answer, 75 another process works on the batch, "
    "130 stopped or interrupted"
)
NO_BATCHES: Final = "There are no batches. Start one: hermes-acp batch run PROMPTS.jsonl"
PRICE_UNKNOWN: Final = (
    "The price of the model is not known, so --max-cost cannot be enforced. Set the price in config.yaml: "
    "`models: {MODEL: {input_usd: …, output_usd: …}}`."
)
OTHER_ID_HINT: Final = "Give changed lines a new id, or start another batch with --id and --out."
OUT_HINT: Final = "Leave out --out, or start another batch with --id."
OTHER_RESULTS_HINT: Final = "Name another file with --out."
ID_HINT: Final = "Use up to 40 letters, digits, -, _ and dots."
WAITING: Final = "waiting for you"
NOT_STARTED: Final = "not started"


def changed_lines(ids: str) -> str:
    """Refuse lines that have changed since they were started."""
    return f"These lines have changed since they were started: {ids}."


def other_out(batch: str, file: str) -> str:
    """Refuse another results file for the same batch."""
    return f"The batch {batch!r} writes its results to {file}."


def other_results(file: str, run: str) -> str:
    """Refuse a results file of another batch."""
    return f"{file} contains results of another batch: {run}."


def starts(batch: str, lines: int, ended: int, results: str) -> str:
    """Say which lines are about to run."""
    so_far = f", {ended:,} of them with a result" if ended else ""
    return f"Batch {batch}: {lines:,} {_lines(lines)}{so_far}. Results: {results}"


def ended(number: int, of: int, line: str, status: str, error: str, *, tokens: int, seconds: float) -> str:
    """Report the result of a line."""
    why = f": {error}" if error else ""
    return f"[{number}/{of}] {line}  {status}  {seconds:.1f} s  {tokens:,} tokens{why}"


def after_interruptions(status: str, times: int) -> str:
    """Return the status of a line that was interrupted and continued."""
    if times == 0:
        return status
    return f"{status} (interrupted {'once' if times == 1 else f'{times:,} times'})"


def interrupted_among(done: str, number: int) -> str:
    """Count the lines that are done, and those among them that were interrupted in the meantime."""
    return f"{done}, {number:,} of them interrupted"


def waits(line: str, run: str) -> str:
    """Say that a line asks a question."""
    return f"{line} has a question. Show it: hermes-acp runs show {run}"


def count(number: int, state: str) -> str:
    """Count the lines in a state."""
    return f"{number:,} {state}"


def summary(counts: Sequence[str], tokens: int, cost_usd: float | None) -> str:
    """Summarise a batch. The cost is None if the price of a model is unknown."""
    parts = ", ".join(counts)
    cost = ", cost unknown" if cost_usd is None else f", ${cost_usd:.4f}" if cost_usd else ""
    return f"{parts or 'no lines'}; {tokens:,} tokens{cost}"


def budget_used_up(lines: int) -> str:
    """Say that lines did not start because of the budget."""
    return f"The budget of the batch is used up: {lines:,} {_lines(lines)} not started. Raise it to continue."


def was_stopped(batch: str) -> str:
    """Say that the batch was stopped."""
    return f"The batch {batch} was stopped. Run it again to continue; --retry-failed includes stopped lines."


def answer_hint(lines: int, run: str) -> str:
    """Say how to answer waiting lines; `run` is the run of the first one."""
    what = "1 line waits" if lines == 1 else f"{lines:,} lines wait"
    answer = f"hermes-acp runs answer {run} allow|deny|TEXT"
    how = answer if lines == 1 else f"for the first, {answer}"
    return f"{what} for your answer: {how}. Then run the batch again."


def stopping(batch: str, runs: int) -> str:
    """Confirm that a batch is being stopped."""
    stopped = f"{runs:,} {'run is' if runs == 1 else 'runs are'} being stopped."
    return f"The batch {batch} will start no more lines. {stopped}"


def state(*, is_running: bool, is_interrupted: bool) -> str:
    """Say whether a process is working on a batch or has left lines unfinished."""
    if is_running:
        return "running"
    return "interrupted" if is_interrupted else "not running"


def waiting_run(run: str) -> str:
    """Return the line for a run with a question."""
    return f"  waiting for you: hermes-acp runs show {run}"


def _lines(number: int) -> str:
    return "line" if number == 1 else "lines"


def invalid_id(batch: str) -> str:
    """Refuse an invalid batch ID."""
    return f"{batch!r} is not a valid batch ID."
