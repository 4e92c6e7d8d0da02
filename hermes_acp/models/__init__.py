"""Models: connections to endpoints, vendors' formats, what is known of each model, and which one to ask next."""
