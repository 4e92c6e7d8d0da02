"""Parse command lines with bash's grammar."""
