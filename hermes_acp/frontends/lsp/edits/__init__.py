"""Proposed changes: compared, confirmed by the user, applied by the editor."""
