"""Titles and explanations of the settings that a client can change."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

SETTING_TEXTS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "titles": (
            "Session titles",
            "first_line: the first line of the first prompt. model: one small model call after the first turn.",
        ),
        "questions.without_clients": (
            "When nobody is connected",
            "wait: the next question waits for you. continue: it counts as unanswered. stop: the turn is stopped.",
        ),
        "questions.timeout_s": (
            "Seconds to answer a question",
            "After that, it counts as unanswered. Empty: questions wait forever.",
        ),
        "budget.max_steps": ("Steps per turn", "A step is a model call."),
        "budget.max_tokens": ("Tokens per turn", "Input and output together. Empty: no limit."),
        "budget.max_cost_usd": (
            "Cost per turn",
            "In US dollars, if the price of the model is known. Empty: no limit.",
        ),
        "budget.timeout_s": ("Seconds per turn", "Empty: no limit."),
        "max_output_tokens": ("Tokens per answer", "Empty: what the model allows."),
        "window_tokens": (
            "Context window",
            "In tokens, if it should be smaller than the model's. Empty: the model's own.",
        ),
        "compaction.at": (
            "When to compact",
            "Fraction of the context window at which a long conversation is compacted, such as 0.8.",
        ),
        "compaction.keep": (
            "What to keep",
            "Fraction of the context window that is kept word for word. At most half of “When to compact”.",
        ),
        "delegation.max_parallel": ("Child agents at once", "1 to 16."),
        "delegation.max_children": ("Tasks per call", "How many child agents one call may start, 1 to 64."),
        "delegation.max_steps": ("Steps per child agent", "At most the remaining steps of the turn."),
    }
)
