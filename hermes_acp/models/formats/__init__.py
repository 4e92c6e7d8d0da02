"""Parts common to all model formats: messages to blocks, events to replies, connections."""
