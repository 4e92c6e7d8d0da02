"""The full-screen chat: the third kind of terminal, drawn with textual."""
