"""The ways in: editors, terminals, scripts. Faces do not know each other."""
