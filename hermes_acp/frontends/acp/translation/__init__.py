"""Our values as the wire has them, where that is the same in every version."""
