"""The manifest of an export: its content, the omissions, the models and the terms."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from msgspec import Struct, field

from hermes_acp import __version__
from hermes_acp.trajectories.atif_document import Trajectory
from hermes_acp.trajectories.event_cleaning import CleanSession
from hermes_acp.trajectories.recorded_sessions import RecordedSession

NOTE: Final = (
    "This export grants no licence. The answers of models can be subject to the terms of their providers, and some "
    "forbid training other models with them. Files, pages and tool results keep the licences of their authors. Check "
    "both before you share this or train with it."
)
REDACTION: Final = (
    "Secrets are masked by their shape, by the names of their fields, and if they are in the environment or .env of "
    "the person who exported. Home folders, login names, mail addresses of git and host names are replaced. A secret "
    "without any known shape can remain, and names that people wrote in their prompts remain."
)


class SessionEntry(Struct, frozen=True, omit_defaults=True):
    """One session in the manifest. `dropped` counts the omitted events by type."""

    id: str
    sha256: str
    steps: int
    children: int = 0
    is_damaged: bool = False
    has_open_turn: bool = False
    missing_schemas: int = 0
    dropped: dict[str, int] = field(default_factory=dict[str, int])


class ExportTotals(Struct):
    """The numbers that summarise an export in its preview."""

    sessions: int = 0
    children: int = 0
    prompts: int = 0
    answers: int = 0
    tool_calls: int = 0
    records: int = 0
    images: int = 0
    secrets: int = 0
    names: int = 0
    untrusted_left_out: int = 0
    damaged: int = 0
    open_turns: int = 0


class ManifestBuilder:
    """Counts the content of an export while it is written. `masks` counts masked secrets, whenever they were masked."""

    def __init__(self) -> None:
        self.totals = ExportTotals()
        self.models: Counter[tuple[str, str]] = Counter()
        self.unpaired = 0
        self.masks = 0
        self._entries: list[SessionEntry] = []

    def add(self, recorded: RecordedSession, session: CleanSession, whole: Trajectory, digest: str) -> None:
        """Add a session; `digest` is the digest of its bytes in the export."""
        sessions, descendants = list(session.with_descendants()), list(recorded.with_descendants())
        totals = self.totals
        totals.sessions += 1
        totals.children += len(sessions) - 1
        totals.secrets += sum(each.replaced.secrets for each in sessions)
        totals.names += sum(each.replaced.names for each in sessions)
        totals.untrusted_left_out += sum(each.untrusted_left_out for each in sessions)
        is_damaged = any(each.unread_bytes for each in descendants)
        has_open_turn = any(each.has_open_turn for each in descendants)
        totals.damaged += is_damaged
        totals.open_turns += has_open_turn
        self._count(whole)
        dropped: Counter[str] = Counter()
        for each in sessions:
            dropped.update(each.dropped)
        missing = sum(each.missing_schemas for each in sessions)
        self._entries.append(
            SessionEntry(
                session.id,
                digest,
                len(whole.steps),
                len(sessions) - 1,
                is_damaged,
                has_open_turn,
                missing,
                dict(sorted(dropped.items())),
            )
        )

    def _count(self, trajectory: Trajectory) -> None:
        totals = self.totals
        for step in trajectory.steps:
            totals.prompts += step.source == "user"
            totals.answers += step.source == "agent"
            totals.tool_calls += len(step.tool_calls or ())
            if not isinstance(step.message, str):
                totals.images += sum(part.type == "image" for part in step.message)
            if step.model_name:
                self.models[(step.model_name, trajectory.agent.version)] += 1
        for child in trajectory.subagent_trajectories or ():
            self._count(child)

    def document(self, form: str, created_at: str, files: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Return the manifest as plain data."""
        totals = self.totals
        return {
            "program": f"hermes-acp {__version__}",
            "created_at": created_at,
            "format": form,
            "files": list(files),
            "counts": {name: getattr(totals, name) for name in ExportTotals.__struct_fields__},
            "masks_in_file": self.masks,
            "unpaired_decisions": self.unpaired,
            "models": [
                {"model": model, "program_version": version, "answers": answers}
                for (model, version), answers in sorted(self.models.items())
            ],
            "sessions": [_plain(entry) for entry in self._entries],
            "redaction": REDACTION,
            "licence": NOTE,
        }


def _plain(entry: SessionEntry) -> dict[str, Any]:
    from msgspec import to_builtins

    return to_builtins(entry)
