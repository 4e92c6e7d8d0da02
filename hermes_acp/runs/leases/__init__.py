"""Claims of runs: renewed while their process works, and taken over from processes that are gone."""
