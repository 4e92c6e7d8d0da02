"""Stages for long-term memory: the reminder to take notes, and the external memory service."""
