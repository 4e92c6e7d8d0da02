"""The quota of a process that a hub started: limits that the hub sends, and usage that is reported to it."""

import time
from collections.abc import Callable
from typing import Final

from hermes_acp.core.ports.quota_ports import Allowance, Measure
from hermes_acp.users.hub_messages import Spent, Terms

TOO_MANY_TURNS: Final = (
    "{count} of your turns are running, as many as may run at the same time. Wait until one ends. "
    "The administrator of this server can raise the limit."
)
TOO_MANY_SESSIONS: Final = (
    "{count} of your sessions are open, as many as may be open at the same time. Close one first. "
    "The administrator of this server can raise the limit."
)


class ReportedQuota:
    """Checks the usage since the hub's last terms against those terms."""

    def __init__(self, terms: Terms, report: Callable[[Spent], None]) -> None:
        """Start with the first terms; `report` sends a report to the hub."""
        self._terms = terms
        self._report = report
        self._number = 0
        self._pending: list[Spent] = []

    def take(self, terms: Terms) -> None:
        """Apply new terms, which account for every report up to their number."""
        self._terms = terms
        if terms.number:
            self._pending = [spent for spent in self._pending if spent.number > terms.number]

    def refuse_step(self) -> str:
        """Return why no model call may be made now."""
        return self._used_up(("tokens", "usd"))

    def refuse_run(self) -> str:
        """Return why no new run may start now."""
        return self._used_up(("runs", "tokens", "usd"))

    def refuse_turn(self, running: int) -> str:
        """Return why no turn may start in addition to the running ones."""
        limit = self._terms.turns
        if limit is not None and running >= limit:
            return TOO_MANY_TURNS.format(count=running)
        return self.refuse_step()

    def refuse_session(self, opened: int) -> str:
        """Return why no session may be opened in addition to the open ones."""
        limit = self._terms.sessions
        return TOO_MANY_SESSIONS.format(count=opened) if limit is not None and opened >= limit else ""

    def spend(self, tokens: int, cost_usd: float) -> None:
        """Count and report the usage of model calls."""
        self._send(tokens=tokens, usd=cost_usd)

    def count_run(self) -> None:
        """Count and report a run that was started."""
        self._send(runs=1)

    def _send(self, tokens: int = 0, usd: float = 0.0, runs: int = 0) -> None:
        self._number += 1
        spent = Spent(self._number, tokens, usd, runs)
        self._pending.append(spent)
        self._report(spent)

    def _used_up(self, measures: tuple[Measure, ...]) -> str:
        now = time.time()
        for allowance in self._terms.allowances:
            if allowance.measure not in measures:
                continue
            before = allowance.used if now < allowance.resets_at else 0.0
            if before + self._unreported(allowance) >= allowance.limit:
                return allowance.sentence()
        return ""

    def _unreported(self, allowance: Allowance) -> float:
        return sum(float(getattr(spent, allowance.measure)) for spent in self._pending)
