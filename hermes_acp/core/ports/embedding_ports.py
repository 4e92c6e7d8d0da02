"""What texts mean, as vectors: how they come about, and what the nearest skills are.

Knows: the shapes and the arithmetic alone. Does not know: any model, where vectors are kept.
"""

import math
from array import array
from collections.abc import Iterable, Sequence
from typing import Literal, Protocol

Purpose = Literal["query", "passage"]
"""Whether a text asks for something or is what may be found; some models tell these apart."""


class Embedder(Protocol):
    """A model that gives texts of like meaning vectors in like directions."""

    @property
    def name(self) -> str:
        """Which model it is: vectors of two names cannot be compared."""
        ...

    async def embed(self, texts: Sequence[str], purpose: Purpose) -> "Sequence[array[float]]":
        """Return a vector of length 1 for each text. Raises ModelError."""
        ...

    async def aclose(self) -> None:
        """Let go of what it holds; a later call takes it up again."""
        ...


def unit(numbers: Iterable[float]) -> "array[float]":
    """Return a vector in the same direction that has the length 1. Raises ValueError where there is no direction."""
    vector = array("f", numbers)
    length = math.sqrt(math.fsum(number * number for number in vector))
    if not (vector and math.isfinite(length) and length > 0):
        raise ValueError("a vector without a direction")
    return array("f", (number / length for number in vector))


def cosine_similarity(one: "array[float]", other: "array[float]") -> float:
    """Return the cosine of two vectors of length 1: 1 is the same direction, 0 none in common."""
    return math.fsum(a * b for a, b in zip(one, other, strict=True))
