"""Report the usage of sessions by any group, for the current profile or for all profiles."""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Literal

from msgspec import Struct

from hermes_acp.config.environment import Environment
from hermes_acp.config.home_folders import DEFAULT_PROFILE, profile_folder, profile_names
from hermes_acp.storage.usage.usage_index import UsageIndex, UsageKey, UsageTotal, total_of

UsageGroup = UsageKey | Literal["profile"]
Note = Callable[[int, int], None]


class UsageReport(Struct, frozen=True):
    """The totals by group, notices for the user, and the profiles left out because other OS users own them."""

    sums: list[UsageTotal]
    news: list[str]
    left_out: list[str]


class UsageService:
    """The usage of a home folder. Its index stays open until `close`; the indexes of other profiles do not."""

    def __init__(self, environment: Environment, *, shows_all_profiles: bool) -> None:
        """Open nothing yet. Without `shows_all_profiles`, only the current profile is included."""
        self._environment = environment
        self._shows_all = shows_all_profiles
        self._index = UsageIndex(environment.home)

    async def report(self, group: UsageGroup, days: tuple[str, str], note: Note | None = None) -> UsageReport:
        """Return the totals from the first to the last day. Raises StorageError.

        `note` is called with the number of records read and the total.
        """
        if group == "profile":
            return await self._profiles(days, note)
        await self._index.refresh(days[0], note)
        sums = await self._index.sums(group, *days)
        return UsageReport(sums, self._index.news(), [])

    async def sessions(self, days: tuple[str, str]) -> dict[str, UsageTotal]:
        """Return the totals of sessions by ID, each including its child agents. Raises StorageError."""
        await self._index.refresh(days[0])
        return await self._index.session_sums(*days)

    def close(self) -> None:
        """Close the index."""
        self._index.close()

    async def _profiles(self, days: tuple[str, str], note: Note | None) -> UsageReport:
        found = UsageReport([], [], [])
        for name, home in self._homes():
            if not _is_ours(home):
                found.left_out.append(name)
                continue
            index = UsageIndex(home)
            try:
                await index.refresh(days[0], note)
                total = total_of(name, await index.sums("day", *days))
            finally:
                found.news.extend(index.news())
                index.close()
            if total.requests:
                found.sums.append(total)
        return found

    def _homes(self) -> list[tuple[str, Path]]:
        """Return the home folders of the profiles to show, by name."""
        if not self._shows_all:
            return [(self._environment.profile, self._environment.home)]
        base = self._environment.base_path or self._environment.home_path
        names = (DEFAULT_PROFILE, *profile_names(base))
        return [(name, Path(profile_folder(base, name))) for name in names]


def _is_ours(home: Path) -> bool:
    """Return whether the folder belongs to the user of this process or does not exist yet.

    An index written to another user's folder would not belong to that user, and links there could lead anywhere.
    """
    with suppress(FileNotFoundError):
        return home.stat().st_uid == os.getuid()
    return True
