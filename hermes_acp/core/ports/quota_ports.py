"""Ports to the quota of the user whom a process serves: the remaining budget and the usage."""

from datetime import UTC, datetime
from typing import Literal, Protocol

from msgspec import Struct

Measure = Literal["tokens", "usd", "runs"]
Period = Literal["day", "month"]


class Allowance(Struct, frozen=True):
    """A limit: how much may be used per day or month, how much has been used, and when it resets (epoch seconds)."""

    measure: Measure
    period: Period
    limit: float
    used: float
    resets_at: float

    def sentence(self) -> str:
        """Return a sentence that says which limit is used up and when it resets."""
        amount = f"${self.limit:,.2f}" if self.measure == "usd" else f"{self.limit:,.0f} {self.measure}"
        when = datetime.fromtimestamp(self.resets_at, UTC).strftime("%Y-%m-%d %H:%M UTC")
        return (
            f"Your quota of {amount} per {self.period} is used up. It resets at {when}. "
            "The administrator of this server can raise it."
        )


class UserQuota(Protocol):
    """The quota of a process's user.

    Each `refuse_…` method returns a refusal addressed to that user, or an empty string to allow the request.
    """

    def refuse_step(self) -> str:
        """Return why no model call may be made now."""
        ...

    def refuse_run(self) -> str:
        """Return why no new run may start now."""
        ...

    def refuse_turn(self, running: int) -> str:
        """Return why no turn may start in addition to the running ones."""
        ...

    def refuse_session(self, opened: int) -> str:
        """Return why no session may be opened in addition to the open ones."""
        ...

    def spend(self, tokens: int, cost_usd: float) -> None:
        """Record the usage of a model call."""
        ...

    def count_run(self) -> None:
        """Count a run that has started."""
        ...


class NoQuota:
    """A quota without limits, for processes that are not run for someone else."""

    def refuse_step(self) -> str:
        """Allow every step."""
        return ""

    def refuse_run(self) -> str:
        """Allow every run."""
        return ""

    def refuse_turn(self, running: int) -> str:
        """Allow every turn."""
        return ""

    def refuse_session(self, opened: int) -> str:
        """Allow every session."""
        return ""

    def spend(self, tokens: int, cost_usd: float) -> None:
        """Do nothing."""

    def count_run(self) -> None:
        """Do nothing."""
