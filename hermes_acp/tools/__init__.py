"""What a model may call, and what those calls share."""
