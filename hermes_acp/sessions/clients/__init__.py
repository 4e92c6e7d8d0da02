"""The clients of a session: what they are shown, what they are asked, and turns that outlive them."""
