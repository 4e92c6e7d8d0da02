"""Estimate how much a whole text resembles instructions, because one more instruction is normal in a file of rules.

The scores are those of words alone. Three quarters of the passages score lower than the estimate, so an attacker who
wants to raise it must write a quarter of the text.
"""

from typing import Final

from injection_scanner.classification.classifier import Classifier
from injection_scanner.classification.score_spans import LONG
from injection_scanner.text.text_tokens import tokenize

SAMPLED: Final = 48
"""The maximum number of passages examined, evenly spread."""

ENOUGH: Final = 5
"""The minimum number of passages from which a usual tone can be estimated."""

MIN_WORDS: Final = 3
MAX_CHARS: Final = 300


def tone_of(passages: list[str], classifier: Classifier) -> float:
    """Return the difference between the typical score of the passages and that of ordinary files, in log odds."""
    typical = typical_score(passages, classifier)
    return 0.0 if typical is None else typical - classifier.weights.typical


def typical_score(passages: list[str], classifier: Classifier) -> float | None:
    """Return the score (log odds) that a quarter of the passages exceed, or None if there are too few."""
    spoken = [passage[:MAX_CHARS] for passage in passages if passage.count(" ") >= MIN_WORDS - 1]
    if len(spoken) < ENOUGH:
        return None
    stride = max(1, -(-len(spoken) // SAMPLED))
    scores = sorted(classifier.score_words(tokenize(passage)[:LONG]) for passage in spoken[::stride])
    return scores[len(scores) * 3 // 4]
