"""Getting texts to people: split, in time, and exactly as often as can be known."""
