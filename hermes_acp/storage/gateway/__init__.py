"""What the gateway must not lose: people, conversations, what came in and what is to go out."""
