"""Find hidden, split and scrambled text, and make it readable."""
