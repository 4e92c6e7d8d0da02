"""Whether a call may run: effects in, verdict out."""
