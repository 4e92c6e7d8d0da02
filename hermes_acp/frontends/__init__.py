"""The frontends: editors, terminals, scripts. No frontend depends on another."""
