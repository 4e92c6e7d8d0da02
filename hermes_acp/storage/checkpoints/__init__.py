"""What workspaces held before and after each turn, in git repositories that are nobody's but ours."""
