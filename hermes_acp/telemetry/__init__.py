"""Logs of the program, and the redaction of secrets."""
