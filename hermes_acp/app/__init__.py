"""The only place where parts are chosen."""
