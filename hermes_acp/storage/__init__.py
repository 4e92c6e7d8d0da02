"""Storage on disk: transcripts, and indexes that can be rebuilt from them."""
