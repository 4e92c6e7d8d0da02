"""Conversations: whose they are, what is asked in them, and the sessions behind them."""
