"""Extensions of the protocol, in every version, for clients that announce support."""
