"""Spoken prompts: convert speech to text."""
