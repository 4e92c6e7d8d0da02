"""`hermes-acp run`: one prompt without an editor."""
