"""A terminal's face: a conversation in lines, on a client that speaks to a child `hermes-acp` as any editor does."""
