"""Claims of runs: kept alive while their process works, and taken over from processes that are gone."""
