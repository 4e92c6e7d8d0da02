"""The price of sending a parcel."""

INCLUDED_G = 500
STEP_G = 500
BASE_CENTS = 420
STEP_CENTS = 110


def price_cents(weight_g: int) -> int:
    """Price a parcel: the first 500 g cost 4.20, every further 500 g or part of them 1.10."""
    further_steps = max(0, weight_g - INCLUDED_G) // STEP_G
    return BASE_CENTS + further_steps * STEP_CENTS
