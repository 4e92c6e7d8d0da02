"""The activity log of a home folder, derived from records, histories and logs."""
