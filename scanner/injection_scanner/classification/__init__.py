"""Score passages with a small linear classifier and cue words."""
