"""Determine the state of a batch from its results and its runs."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, get_args

from msgspec import structs

from hermes_acp.core.ports.run_ports import RunFilter, RunState
from hermes_acp.runs.batches.batch_results import ResultStatus, latest, read_results, total_cost_usd
from hermes_acp.runs.batches.batch_store import Batch, BatchStore

if TYPE_CHECKING:
    from hermes_acp.runs.run_service import RunService

OPEN: Final[tuple[RunState, ...]] = ("queued", "running", "input_required", "parked")
MAX_LISTED: Final = 1_000_000
STATUSES: Final[tuple[ResultStatus, ...]] = get_args(ResultStatus)


async def batch_document(service: "RunService", store: BatchStore, batch: Batch) -> dict[str, Any]:
    """Return the state of a batch as a JSON document. Raises BadRequest or StorageError."""
    results = read_results(Path(batch.results))
    last = [result for line, result in latest(results).items() if line in batch.lines]
    counts = {status: sum(each.status == status for each in last) for status in STATUSES}
    listed = await service.engine.list(RunFilter(OPEN, origin=batch.origin, limit=MAX_LISTED))
    runs = [each for each in listed if each.order.origin == batch.origin]
    waiting = [each.order.id for each in runs if each.state == "input_required"]
    started = sum(each.state in ("queued", "running") for each in runs)
    is_running = store.is_locked(batch.id)
    has_worker = is_running or await service.engine.has_worker()
    retried = sum(not each.order.id.endswith(":1") for each in runs)
    not_started = len(batch.lines) - len(last) - len(runs) + retried
    return {
        "id": batch.id,
        "is_running": is_running,
        "prompts": batch.prompts,
        "results": batch.results,
        "lines": len(batch.lines),
        "counts": {
            **counts,
            "running": started if has_worker else 0,
            "interrupted": 0 if has_worker else started,
            "waiting": len(waiting),
            "not_started": max(0, not_started),
        },
        "tokens": sum(each.tokens for each in results),
        "cost_usd": total_cost_usd(results),
        "budget": structs.asdict(batch.budget),
        "waiting": waiting,
    }
