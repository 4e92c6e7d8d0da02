"""What all formats of models share: messages to blocks, events to replies, connections."""
