"""What a turn has at hand and what it has used."""
