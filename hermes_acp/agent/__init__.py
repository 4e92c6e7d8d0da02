"""Run one turn: the model loop, its tool calls and what happens around them."""
