"""Run a turn: the model loop, its tool calls and the stages around them."""
