"""Ports to the quota of the user whom a process works for: what may still be used, and what was used."""

from datetime import UTC, datetime
from typing import Literal, Protocol

from msgspec import Struct

Measure = Literal["tokens", "usd", "runs"]
Period = Literal["day", "month"]


class Allowance(Struct, frozen=True):
    """One limit: how much may be used in a day or a month, how much was, and when it starts anew (epoch seconds)."""

    measure: Measure
    period: Period
    limit: float
    used: float
    resets_at: float

    def sentence(self) -> str:
        """Return what is used up, and when it starts anew."""
        amount = f"${self.limit:,.2f}" if self.measure == "usd" else f"{self.limit:,.0f} {self.measure}"
        when = datetime.fromtimestamp(self.resets_at, UTC).strftime("%Y-%m-%d %H:%M UTC")
        return (
            f"Your quota of {amount} per {self.period} is used up. It starts anew at {when}. "
            "The administrator of this server can raise it."
        )


class UserQuota(Protocol):
    """The quota of a process's user. Each refusal is a sentence for that user; an empty one means: go on."""

    def refuse_step(self) -> str:
        """Return why no model call may be made now."""
        ...

    def refuse_run(self) -> str:
        """Return why no further run may be started now."""
        ...

    def refuse_turn(self, running: int) -> str:
        """Return why no turn may start beside those that run."""
        ...

    def refuse_session(self, opened: int) -> str:
        """Return why no session may be opened beside those that are open."""
        ...

    def spend(self, tokens: int, cost_usd: float) -> None:
        """Count the usage of a model call."""
        ...

    def count_run(self) -> None:
        """Count a run that was started."""
        ...


class NoQuota:
    """Lets everything through: nobody else pays for what this process uses."""

    def refuse_step(self) -> str:
        """Refuse nothing."""
        return ""

    def refuse_run(self) -> str:
        """Refuse nothing."""
        return ""

    def refuse_turn(self, running: int) -> str:
        """Refuse nothing."""
        return ""

    def refuse_session(self, opened: int) -> str:
        """Refuse nothing."""
        return ""

    def spend(self, tokens: int, cost_usd: float) -> None:
        """Count nothing."""

    def count_run(self) -> None:
        """Count nothing."""
