"""Ways to models: wire formats, what is known of each model, and what answers on this machine."""
