"""Transcription plugins, named after the values of `voice.transcription`."""
