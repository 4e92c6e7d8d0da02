"""Claims on runs: renewed while their process works, and taken over from dead processes."""
