"""How long a judgement may take before everybody goes on without it.

Knows: which commands could keep everybody waiting, and that these are looked at in a thread. Does not know: what is
judged of a call, or what follows.
"""

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

import anyio
import anyio.to_thread

from hermes_acp.core.proposals import Effect, Runs

T = TypeVar("T")
LONG_CHARACTERS: Final = 2_000
PATTERNS: Final = frozenset("*?[")
POLICY_TIMEOUT_S: Final = 5.0


async def within_timeout(effects: Sequence[Effect], look: Callable[[], T], otherwise: T) -> T:
    """Look at what a call with these effects would do; `otherwise` is what holds where that takes too long."""
    if _are_cheap_to_check(effects):
        return look()
    with anyio.move_on_after(POLICY_TIMEOUT_S):
        return await anyio.to_thread.run_sync(look, abandon_on_cancel=True)
    return otherwise


def _are_cheap_to_check(effects: Sequence[Effect]) -> bool:
    """Return whether no command of a call is long, or has patterns, for which the disk is searched."""
    commands = [effect.command for effect in effects if isinstance(effect, Runs)]
    return sum(map(len, commands)) <= LONG_CHARACTERS and not any(set(each) & PATTERNS for each in commands)
