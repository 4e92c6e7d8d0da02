"""The full-screen chat, drawn with Textual: the third way to show a chat."""
