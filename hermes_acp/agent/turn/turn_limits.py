"""Limits for one turn: steps, tokens, money and time."""

from typing import Final, Literal

from msgspec import Struct

FINAL_ANSWER_SHARE: Final = 0.1
MAX_FINAL_ANSWER_S: Final = 30.0
DEFAULT_CALL_TIMEOUT_S: Final = 600.0
"""The time limit, in seconds, of a call whose tool does not set one."""


Unattended = Literal["wait", "continue", "stop"]
"""What a turn without clients does with a question: wait for an answer, continue without one, or stop."""


class TurnLimits(Struct, frozen=True):
    """What one turn may use; None means no limit.

    `max_tokens` counts input and output tokens, cached or not, over all steps. `max_refunds` is how many steps with
    only cheap calls are refunded. `tool_timeout_s` is the time limit of one call, and `question_timeout_s` that of a
    person's answer. `without_clients` says what a turn does if its session has no clients. `max_schema_tokens` is the
    total size of servers' tool schemas beyond which a model must search for tools.
    """

    max_steps: int | None = 100
    max_tokens: int | None = None
    max_cost_usd: float | None = None
    timeout_s: float | None = None
    max_refunds: int = 20
    tool_timeout_s: float = 3600.0
    question_timeout_s: float | None = None
    without_clients: Unattended = "wait"
    max_schema_tokens: int = 10_000

    @property
    def working_s(self) -> float | None:
        """The time limit less the share reserved for the final answer: a tenth of it, at most half a minute."""
        if self.timeout_s is None:
            return None
        return self.timeout_s - min(self.timeout_s * FINAL_ANSWER_SHARE, MAX_FINAL_ANSWER_S)

    def call_s(self, wanted_s: float | None, passed_s: float) -> float:
        """Return the time limit for a call that asks for `wanted_s` when `passed_s` of the turn have passed."""
        longest_s = min(DEFAULT_CALL_TIMEOUT_S if wanted_s is None else wanted_s, self.tool_timeout_s)
        return longest_s if self.working_s is None else max(0.0, min(longest_s, self.working_s - passed_s))
