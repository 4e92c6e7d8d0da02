"""`hermes-acp run`: run one prompt without an editor."""
