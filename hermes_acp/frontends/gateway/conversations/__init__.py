"""Conversations: their people, their questions, and the sessions behind them."""
