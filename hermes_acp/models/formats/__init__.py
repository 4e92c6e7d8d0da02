"""What all model formats share: messages to blocks, events to replies, connections."""
