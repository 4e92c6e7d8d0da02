"""Communicate with the editor and its user: messages, questions, progress, and files to show."""
