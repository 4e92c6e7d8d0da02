"""The activity in a home, derived from records, histories and logs."""
