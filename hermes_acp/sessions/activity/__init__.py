"""What happened in a home: derived from records, histories and logs."""
