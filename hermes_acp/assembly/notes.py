"""The agent's notes, as a turn's tools and a session's prompt have them.

Knows: that without notes there is neither tool nor layer. Does not know: what is noted.
"""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hermes_acp.config.memory import MemorySettings
    from hermes_acp.knowledge.remembering import Snapshot


def notes_ports(settings: "MemorySettings", home: Path) -> dict[str, object]:
    """Give what the tool that keeps notes takes; nothing where none are kept."""
    if not settings.enabled:
        return {}
    from hermes_acp.knowledge.memory import Memory

    return {"memories": Memory(home), "asks_to_remember": settings.ask}


def notes_layer(settings: "MemorySettings", home: Path, cwd: str) -> "Snapshot":
    """Give the notes that a new session is shown. Blocks."""
    from hermes_acp.knowledge.allowances import read_allowed
    from hermes_acp.knowledge.memory import Memory
    from hermes_acp.knowledge.remembering import Snapshot, snapshot

    return snapshot(Memory(home), cwd, read_allowed(home)) if settings.enabled else Snapshot("")
