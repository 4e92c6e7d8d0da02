"""Numbers with their nouns."""


def counted(number: int, singular: str) -> str:
    """Return a number and its noun, which forms its plural with an s."""
    return f"{number:,} {singular}" if number == 1 else f"{number:,} {singular}s"
