"""Finding what is known by its meaning: earlier sessions, and skills."""
