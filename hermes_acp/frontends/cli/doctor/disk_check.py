"""Check the free space on the disks that sessions, temporary files and updates use."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from hermes_acp.config.environment import Environment
from hermes_acp.frontends.cli.doctor.doctor_findings import Finding
from hermes_acp.frontends.cli.messages import doctor_messages

CHECK: Final = "disk"
FULL_BYTES: Final = 100 << 20
LOW_BYTES: Final = 1 << 30
MIN_FILES: Final = 1000


def check_disks(environment: Environment) -> Iterator[Finding]:
    """Yield one finding for each disk. Blocks."""
    seen: set[int] = set()
    for folder in (environment.home, environment.state_folder, Path(tempfile.gettempdir())):
        place = _existing(folder)
        with suppress(OSError):
            device = place.stat().st_dev
            if device not in seen:
                seen.add(device)
                yield _finding(place)


def _finding(place: Path) -> Finding:
    state = os.statvfs(place)
    free = state.f_bavail * state.f_frsize
    if state.f_files and state.f_favail < MIN_FILES:
        text = doctor_messages.few_files(str(place), state.f_favail)
        return Finding(CHECK, "problem", text, doctor_messages.DELETE_FILES)
    if free < FULL_BYTES:
        return Finding(
            CHECK, "problem", doctor_messages.little_space(str(place), free), doctor_messages.FREE_SPACE
        )
    if free < LOW_BYTES:
        return Finding(
            CHECK, "note", doctor_messages.little_space(str(place), free), doctor_messages.FREE_SPACE
        )
    return Finding(CHECK, "fine", doctor_messages.space_left(str(place), free))


def _existing(folder: Path) -> Path:
    """Return a folder, or its nearest existing parent."""
    return next((each for each in (folder, *folder.parents) if each.is_dir()), folder)
