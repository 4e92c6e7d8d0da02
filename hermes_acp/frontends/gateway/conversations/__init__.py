"""Conversations with people: their messages, their questions, and the sessions that answer them."""
