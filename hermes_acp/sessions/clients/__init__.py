"""The clients of a session: their updates and questions, and turns that outlive them."""
