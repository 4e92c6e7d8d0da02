"""What lies on disk: transcripts first, and an index of them that can be rebuilt."""
