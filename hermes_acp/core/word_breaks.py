"""Where a text can be cut: between lines, or at least between words.

Knows: how far from the wished place a break may be. Does not know: what is cut, or why.
Half a secret could not be told from anything else, so no cut is made within a word that is not very long.
"""


def to_a_break(piece: bytes) -> bytes:
    """Leave out the last line, or the last word of one that is too long to lose."""
    least = len(piece) - len(piece) // 8
    end = piece.rfind(b"\n", least)
    end = piece.rfind(b" ", least) if end < 0 else end
    return piece if end < 0 else piece[: end + 1]


def from_a_break(piece: bytes) -> bytes:
    """Leave out the first line, or the first word of one that is too long to lose."""
    most = len(piece) // 8
    start = piece.find(b"\n", 0, most)
    start = piece.find(b" ", 0, most) if start < 0 else start
    return piece[start + 1 :]
