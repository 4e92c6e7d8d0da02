"""Random IDs and numbers."""

import os


class RandomIds:
    """Unguessable IDs."""

    def fresh(self, kind: str) -> str:
        """Return `kind_` followed by 16 random hexadecimal digits."""
        return f"{kind}_{os.urandom(8).hex()}"


def random_fraction() -> float:
    """Return a random number in the interval [0, 1)."""
    return int.from_bytes(os.urandom(6)) / 2**48
