"""Fetch a skill from a tap: exactly the files that the tap's signed index lists."""

from collections.abc import Callable
from pathlib import Path

from hermes_acp.core.errors import BadRequest
from hermes_acp.skills.skill_source import FetchedFiles, Source, version_files
from hermes_acp.skills.skill_validation import MAX_FILES, MAX_FOLDER_BYTES
from hermes_acp.skills.taps.skill_capabilities import capabilities_of
from hermes_acp.skills.taps.tap_service import ASK_PUBLISHER, TapService, skill_path
from hermes_acp.storage.version_history import tree_digest


def tap_source(taps: TapService, tap: str, name: str) -> Source:
    """Return the source of a skill in a tap. Raises BadRequest."""
    return Source(taps.store.find(tap).url, skill_path(name))


def fetch_from_tap(taps: TapService, tap: str, name: str) -> Callable[[Source, Path], FetchedFiles]:
    """Return a function that fetches a skill from a tap. It raises BadRequest if the tap cannot be trusted."""

    def fetch(source: Source, place: Path) -> FetchedFiles:
        with taps.fetched(source.place) as (git, commit, folder):
            published = taps.verify(tap, git, commit, folder).index.skills.get(name)
            if published is None:
                raise BadRequest(f"The tap {tap} no longer has a skill {name}.")
            limits = {"max_files": MAX_FILES, "most_bytes": MAX_FOLDER_BYTES}
            files = git.files(commit, skill_path(name), **limits)
        if tree_digest(version_files(files)) != published.digest:
            raise BadRequest(
                f"The files of {name} are not those that the index of the tap {tap} lists.",
                hint=ASK_PUBLISHER,
            )
        if capabilities_of(name, files) != published.capabilities:
            raise BadRequest(
                f"The index of the tap {tap} does not say what {name} can do.", hint=ASK_PUBLISHER
            )
        return FetchedFiles(commit, source.path, files, tap, published.version)

    return fetch
