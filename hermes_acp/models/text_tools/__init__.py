"""Support tool calls for models that write them as text."""
