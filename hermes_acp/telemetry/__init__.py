"""The program's logs, and the redaction of secrets."""
