"""Protocol extensions for clients that announce support, the same in every protocol version."""
