"""Convert speech to text for spoken prompts."""
