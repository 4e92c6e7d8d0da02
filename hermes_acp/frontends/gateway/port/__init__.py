"""The interface that platforms implement."""
