"""Estimate how many tokens of the model's window the next request takes.

The endpoint's last count corrects the estimate, within limits: some endpoints count only the last answer, or always
report the same number.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from hermes_acp.core.messages import ToolSchema
from hermes_acp.core.record.session_record import Record
from hermes_acp.core.token_estimates import TOKEN_BYTES, estimate_tokens, text_tokens

MAX_ESTIMATE_ERROR: Final = 2
"""The factor by which an estimate may be too high."""


def tokens_in_use(record: Record, tools: Sequence[ToolSchema]) -> int:
    """Return an upper bound for the next request's tokens: the higher of count and estimate."""
    return max(estimate_request_tokens(record, tools), _measured(record) or 0)


def plausible_tokens(record: Record, tools: Sequence[ToolSchema]) -> int:
    """Estimate the tokens of the next request: the endpoint's count, unless the estimate is more than twice as high."""
    estimated, measured = estimate_request_tokens(record, tools), _measured(record)
    return estimated if measured is None or measured * MAX_ESTIMATE_ERROR < estimated else measured


def _measured(record: Record) -> int | None:
    """Return the endpoint's last count plus an estimate for later messages."""
    counted = record.usage.used_tokens
    if counted and record.measured_at <= len(record.messages):
        return counted + estimate_tokens(record.messages[record.measured_at :])
    return None


def estimate_request_tokens(record: Record, tools: Sequence[ToolSchema]) -> int:
    """Estimate the tokens of a whole request: prompt, tools and history."""
    schemas = sum(len(msgspec.json.encode(tool)) for tool in tools) // TOKEN_BYTES
    return text_tokens(*record.layers) + schemas + record.sent.tokens(record.messages)
