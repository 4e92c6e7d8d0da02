"""The users of a hub: who they are, which profile is theirs, how they sign in, what they may use, what was done."""
