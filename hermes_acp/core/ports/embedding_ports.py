"""The port to an embedding model, and vector arithmetic."""

import math
from array import array
from collections.abc import Iterable, Sequence
from operator import mul
from typing import Literal, Protocol

Purpose = Literal["query", "passage"]
"""Whether a text is a query or a passage to be found; some models embed the two differently."""


class Embedder(Protocol):
    """An embedding model: similar texts have nearby vectors."""

    @property
    def name(self) -> str:
        """The model's name; vectors from different models cannot be compared."""
        ...

    async def embed(self, texts: Sequence[str], purpose: Purpose) -> "Sequence[array[float]]":
        """Return a unit vector for each text. Raises ModelError."""
        ...

    async def aclose(self) -> None:
        """Release resources; a later call acquires them again."""
        ...


def unit(numbers: Iterable[float]) -> "array[float]":
    """Return the unit vector in the same direction. Raises ValueError for a zero vector."""
    vector = array("f", numbers)
    length = math.sqrt(math.fsum(number * number for number in vector))
    if not (vector and math.isfinite(length) and length > 0):
        raise ValueError("a zero vector has no direction")
    return array("f", (number / length for number in vector))


def cosine_similarity(one: "array[float]", other: "array[float]") -> float:
    """Return the cosine of the angle between two unit vectors: 1 for the same direction, 0 for unrelated texts.

    Raises ValueError for vectors from different models.
    """
    if len(one) != len(other):
        raise ValueError("the vectors have different lengths")
    return sum(map(mul, one, other))
