"""Limit the time of policy checks; a check that times out results in a question.

Only checks that may take long run in a thread.
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
    """Run the policy check of a call with these effects; return `otherwise` if it times out."""
    if _are_cheap_to_check(effects):
        return look()
    with anyio.move_on_after(POLICY_TIMEOUT_S):
        return await anyio.to_thread.run_sync(look, abandon_on_cancel=True)
    return otherwise


def _are_cheap_to_check(effects: Sequence[Effect]) -> bool:
    """Return whether the call has no command that is long or contains glob patterns, which require disk searches."""
    commands = [effect.command for effect in effects if isinstance(effect, Runs)]
    return sum(map(len, commands)) <= LONG_CHARACTERS and not any(set(each) & PATTERNS for each in commands)
